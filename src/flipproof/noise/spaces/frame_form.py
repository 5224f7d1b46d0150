"""From drawn codes back to data frames, as the model that gets them was trained on."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class PandasForm:
    """Rows of codes as a frame of pandas. Its index numbers the rows of the batch, whatever the clean frame had.

    Attributes:
        looks: what the codes of each column look like, as extension arrays.
        names: the names of the columns, as an `Index`.
    """

    looks: tuple[Any, ...]
    names: Any

    @property
    def bytes_per_row(self) -> int:
        """The values of a row, and the codes of a column at a time."""
        return 8 * len(self.looks) + int(sum(map(_bytes_of_pandas, self.looks)))

    def __call__(self, drawn: NDArray[Any], /) -> Any:
        """A frame with one row for each row of codes."""
        codes = np.ascontiguousarray(drawn.T, dtype=np.intp)
        pandas = import_module("pandas")
        columns = {place: look.take(codes[place]) for place, look in enumerate(self.looks)}
        for place, look in enumerate(self.looks):
            if str(look.dtype) == "object":  # else pandas infers a type from the values that are drawn
                columns[place] = pandas.Series(columns[place], dtype=object)
        frame = pandas.DataFrame(columns, copy=False)
        frame.columns = self.names
        return frame


@dataclass(frozen=True, slots=True, eq=False)
class PolarsForm:
    """Rows of codes as a frame of polars.

    Attributes:
        looks: what the codes of each column look like, as series.
        names: the names of the columns.
    """

    looks: tuple[Any, ...]
    names: tuple[str, ...]

    @property
    def bytes_per_row(self) -> int:
        """The values of a row, and the codes of a column at a time."""
        return 8 * len(self.looks) + int(sum(_average(look.estimated_size(), len(look)) for look in self.looks))

    def __call__(self, drawn: NDArray[Any], /) -> Any:
        """A frame with one row for each row of codes."""
        codes = np.ascontiguousarray(drawn.T)
        columns = [
            look.gather(codes[place]).alias(name)
            for place, (look, name) in enumerate(zip(self.looks, self.names, strict=True))
        ]
        return import_module("polars").DataFrame(columns)


def _bytes_of_pandas(look: Any) -> float:
    """The bytes of a cell; of a category, those of its code: the categories themselves are shared."""
    codes = getattr(look, "codes", None)
    return float(codes.itemsize) if codes is not None else _average(look.nbytes, len(look))


def _average(size: int, count: int) -> float:
    return max(8.0, size / max(1, count))
