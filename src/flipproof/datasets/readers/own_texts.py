"""A user's own messages: a tsv file with one `label<TAB>message` per line."""

from __future__ import annotations

import os
from pathlib import Path

from flipproof.datasets.kinds.text_dataset import TextDataset
from flipproof.datasets.readers.code_book import CodeBook, check_classes
from flipproof.datasets.readers.text_lines import reading_lines
from flipproof.errors import FileFormatError

MESSAGES = "text with a label, a tab and a message in every line"


def read_messages(path: str | os.PathLike[str]) -> TextDataset:
    """The messages of a tsv file. Labels may be any words, quotation marks mean nothing, empty lines do not count."""
    messages, labels = [], CodeBook()
    with reading_lines(path, MESSAGES) as lines:
        for number, line in enumerate(lines, 1):
            text = line.rstrip("\r\n")
            if not text:
                continue
            label, tab, message = text.partition("\t")
            if not tab:
                raise FileFormatError(f"line {number} has no tab")
            if not label.strip():
                raise FileFormatError(f"line {number} has no label")
            if number == 1 and label.strip().lower() == "label":
                raise FileFormatError("line 1 is a header; leave it out")
            labels.add(label.strip())
            messages.append(message)
        if not messages:
            raise FileFormatError("it has no lines")
        check_classes(labels)
        return TextDataset(Path(path).stem, tuple(messages), labels.numbers(), labels.words())
