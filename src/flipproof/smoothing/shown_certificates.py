"""How certificates are shown: as figures, as columns, and as files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import ArrayLike

from flipproof.base.values import as_array, checked_kind
from flipproof.errors import InvalidInputError
from flipproof.extras import provided
from flipproof.files.csv_file import write_csv
from flipproof.files.whole import checked_path
from flipproof.smoothing.columns import columns_of, frame_of
from flipproof.smoothing.html_table import certificates_html
from flipproof.smoothing.result_files import write_certificates
from flipproof.theory.certificate import shown_radius

if TYPE_CHECKING:
    from flipproof.smoothing.certificates import Certificates


class ShownCertificates:
    """The part of `Certificates` that shows them to people and to other programs."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return certificates_html(cast("Certificates", self))

    def plot_heatmap(
        self,
        y: str | None = None,
        x: str | None = None,
        *,
        held: Mapping[str, int] | None = None,
        true_labels: ArrayLike | None = None,
        ax: Any = None,
    ) -> Any:
        """Draws the certified ratio over two axes as a matplotlib figure; needs the extra "report".

        Args:
            y: the axis that goes up, such as "add" or "structure.add"; by default the first one.
            x: the axis that goes right; by default the next one.
            held: other axes and the counts at which they are held, by default 0.
            true_labels: if given, the certified accuracy is drawn instead.
            ax: matplotlib axes to draw into; their figure is returned. By default a new figure.
        """
        for name, value, kind in (("y", y, str), ("x", x, str), ("held", held, Mapping)):
            if value is not None:
                checked_kind(value, kind, name)
        return provided("plots").plot_heatmap(self, y, x, held, true_labels, ax)

    def plot_lines(self, *, true_labels: ArrayLike | None = None, ax: Any = None) -> Any:
        """Draws the certified ratio and, given true labels, accuracy along every axis; needs the extra "report".

        `ax` are matplotlib axes to draw into: one for all kinds of change together, or a list with one for each kind.
        Their figure is returned.
        """
        labels = None if true_labels is None else as_array(true_labels, "true_labels")
        return provided("plots").plot_lines(self, labels, ax)

    def to_columns(self) -> dict[str, Any]:
        """One column per fact and one row per input; `pandas.DataFrame` accepts the result.

        If the votes have names, `name` is that of an input and `label_name` that of its predicted class.

        `input` is the id of an input: its number among all inputs given to `vote`, even if only some were targets.
        `max_any` counts changes of all kinds together, the other radii changes of one kind, nothing else being changed.
        """
        return columns_of(cast("Certificates", self))

    def to_pandas(self) -> Any:
        """The columns as a pandas `DataFrame`, indexed by the names of the inputs or, without names, by their ids."""
        return frame_of(self.to_columns())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the files that `flipproof verify` checks: a JSON file at `path`, and arrays in an npz beside it."""
        target = checked_path(path)
        if target.suffix != ".json":
            raise InvalidInputError(f"expected the path of a JSON file, such as certificates.json, got {target}")
        write_certificates(cast("Certificates", self), target)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Writes `to_columns` as CSV, whole or not at all."""
        write_csv(path, self.to_columns(), shown_radius)
