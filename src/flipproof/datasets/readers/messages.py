"""The SMS Spam Collection: one `label<TAB>message` per line."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from flipproof.datasets.fetching.archives import gunzipped
from flipproof.datasets.fetching.data_file import Member
from flipproof.datasets.kinds.text_dataset import TextDataset
from flipproof.errors import FileFormatError

SMS = Member("SMSSpamCollection", 477_907, "7d039a24a6083ed9ef0f806ebad56bbb976e3aeb8de05669173bfdc4996c239d")
_CLASSES = ("ham", "spam")


def read_sms_gzip(contents: Mapping[str, bytes]) -> TextDataset:
    """Reads the collection from one gzipped text."""
    return messages_of(gunzipped(contents["sms_spam.tsv.gz"], SMS.size))


def read_sms_zip(contents: Mapping[str, bytes]) -> TextDataset:
    """Reads the collection from the zip file of its public home."""
    return messages_of(SMS.read(contents["sms+spam+collection.zip"]))


def messages_of(text: bytes) -> TextDataset:
    r"""The messages of a text, one per line.

    Example:
        >>> messages_of(b"ham\tSee you at six.\nspam\tYou won!\n").labels
        array([0, 1])
    """
    lines = [line.partition("\t") for line in text.decode("utf-8").split("\n") if line]
    wrong = next((label for label, _, _ in lines if label not in _CLASSES), None)
    if wrong is not None:
        raise FileFormatError(f"expected lines that begin with ham or spam, got {wrong!r}")
    labels = np.array([_CLASSES.index(label) for label, _, _ in lines], dtype=np.int64)
    return TextDataset("sms_spam", tuple(message for _, _, message in lines), labels, _CLASSES)
