"""The checker shares no code with what makes certificates, so it has to know a few numbers of its own."""

from flipproof.models.fused.nodes import FUSED_VERSION
from flipproof.smoothing.result_files import CERTIFICATES_FILE
from flipproof.smoothing.run import STREAM_VERSION
from flipproof.theory.search import SEARCH_LIMIT
from flipproof.verification import certificate, statements
from flipproof.verification.schema import schema_of


def test_both_sides_know_the_same_versions_and_limits():
    assert statements.STREAM_VERSION == STREAM_VERSION
    assert statements.ENGINE_VERSIONS["fused"] == FUSED_VERSION
    assert statements.RADIUS_LIMIT == SEARCH_LIMIT
    assert (
        certificate.VERSION == CERTIFICATES_FILE.version == schema_of("certificates")["properties"]["version"]["const"]
    )
