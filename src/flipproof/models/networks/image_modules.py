"""The convolutional network of Lee et al. for images of integer levels, with their sizes as defaults."""

from __future__ import annotations

from collections.abc import Sequence

from flipproof.base.short_repr import model_words
from flipproof.base.values import checked_count, checked_items, checked_probability
from flipproof.errors import InvalidInputError
from flipproof.extras import require
from flipproof.models.adapters.torch_modules import checked_size

require("torch")  # names the extra if it is missing
import torch  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812

_CHANNELS = 20, 50
_SMALLEST, _SMALL = 4, 20
"""The smallest side that two poolings allow, and the smallest side that allows windows of 5 x 5 pixels."""


class CNN(torch.nn.Module):
    """Two convolutions with pooling, two linear layers (Lee et al., 2019): conv 20 - conv 50 - fc 500 - fc classes.

    The network takes levels from 0 to levels - 1 and scales them to [0, 1]. Windows are 5 x 5, or 3 x 3 with a margin
    for images with a side of fewer than 20 pixels. The channels of a pixel are adjacent in memory, which makes
    convolutions with few channels twice as fast on a CPU.

    Args:
        shape: (height, width) or (height, width, 3) of an image; every side has at least 4 pixels.
        classes: the number of labels.
        levels: the number of values that a pixel may have.
        hidden: the width of the linear layer.
        dropout: the dropout rate of the linear layer in training.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> CNN((8, 8), classes=10)(torch.ones(5, 8, 8)).shape
        torch.Size([5, 10])
    """

    def __init__(
        self, shape: Sequence[int], classes: int, levels: int = 2, hidden: int = 500, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.shape = _checked_shape(shape)
        self.levels = _checked_between(levels, 2, 256, "levels")
        hidden = _checked_between(hidden, 1, 2**20, "hidden")
        small, colours = min(self.shape[:2]) < _SMALL, self.shape[2] if len(self.shape) == 3 else 1
        kernel, margin = (3, 1) if small else (5, 0)
        first, second = _CHANNELS
        self.first = torch.nn.Conv2d(colours, first, kernel, padding=margin)
        self.second = torch.nn.Conv2d(first, second, kernel, padding=margin)
        height, width = (((side - 4 + 4 * margin) // 2 - 4 + 4 * margin) // 2 for side in self.shape[:2])
        self.third = torch.nn.Linear(second * height * width, hidden)
        self.last = torch.nn.Linear(hidden, checked_size(classes, "classes"))
        self.dropout = checked_probability(dropout, "dropout")
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # missing in torch's annotations

    def __repr__(self) -> str:
        return f"<{model_words(self)}>"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits [rows, classes] of levels [rows, height, width] or [rows, height, width, 3]."""
        if tuple(x.shape[1:]) != self.shape:
            raise InvalidInputError(f"expected images of shape {list(self.shape)}, got {list(x.shape[1:])}")
        pixels = x.reshape(*x.shape[:3], -1).permute(0, 3, 1, 2) / (self.levels - 1)
        # Relu and max pooling commute: relu after pooling does a quarter of the work.
        hidden = F.max_pool2d(self.first(pixels), 2).relu()
        hidden = F.max_pool2d(self.second(hidden), 2).relu()
        hidden = self.third(hidden.permute(0, 2, 3, 1).flatten(1)).relu()
        return self.last(F.dropout(hidden, self.dropout, self.training))  # type: ignore[no-any-return]  # a module's call is Any


def _checked_shape(given: Sequence[int]) -> tuple[int, ...]:
    sides = checked_items(given, "shape", "sides")
    shape = tuple(checked_size(side, "a side of an image") for side in sides)
    if len(shape) not in (2, 3) or shape[2:] not in ((), (3,)):
        raise InvalidInputError(f"expected a shape (height, width) or (height, width, 3), got {shape}")
    if min(shape[:2]) < _SMALLEST:
        raise InvalidInputError(f"expected images of at least {_SMALLEST} x {_SMALLEST} pixels, got {shape}")
    return shape


def _checked_between(given: int, least: int, most: int, name: str) -> int:
    if not least <= checked_count(given, name) <= most:
        raise InvalidInputError(f"expected {name} from {least} to {most}, got {given}")
    return int(given)
