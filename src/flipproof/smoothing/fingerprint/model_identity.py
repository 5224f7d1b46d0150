"""What a classifier is, as a part of the identity of a run: its contents, our code on the way, and the user's files."""

from __future__ import annotations

from typing import Any

from flipproof.smoothing.fingerprint.fingerprints import FINGERPRINTS_VERSION, fingerprint
from flipproof.smoothing.fingerprint.met_modules import hashes_of_files, note_class, noting_modules
from flipproof.smoothing.fingerprint.package_code import own_code
from flipproof.smoothing.voting.evaluation import Evaluation


def model_identity(classifier: Any) -> dict[str, Any]:
    """JSON values.

    - "model" is the classifier's fingerprint,
    - "fingerprints" the version of fingerprints,
    - "code" a hash of what flipproof does to get from noisy inputs to labels: the module of the classifier if it is
      one of ours, networks of ours inside, what they import of our models, and what counts labels,
    - "files" the sha256 of each file of the user's own that the fingerprint is about.
    """
    with noting_modules() as met:
        note_class(type(classifier))
        own = getattr(classifier, "fingerprint", None)
        model = own if isinstance(own, str) else fingerprint(classifier)
    ours = {owner.__module__ for owner in type(classifier).__mro__} | {Evaluation.__module__}
    models = {name for name in met if name.startswith("flipproof.models.")}
    return {
        "model": model,
        "fingerprints": FINGERPRINTS_VERSION,
        "code": own_code(ours | models),
        "files": hashes_of_files(met),
    }
