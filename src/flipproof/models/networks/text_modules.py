"""A small neural network for sequences of words, most of which noise may have hidden or replaced."""

from __future__ import annotations

from flipproof.base.short_repr import model_words
from flipproof.base.values import checked_probability
from flipproof.errors import InvalidInputError
from flipproof.extras import require
from flipproof.models.adapters.torch_modules import checked_size

require("torch")  # names the extra if it is missing
import torch  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812


class WordMean(torch.nn.Module):
    """A network on the mean vector of all visible words and the logarithm of their number, with two linear maps.

    Args:
        vocabulary: the number of words, K. A sequence has their numbers 0 to K - 1, and K at empty positions.
        classes: the number of labels.
        hidden: the length of the vectors.
        dropout: the dropout rate of the mean in training.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> module = WordMean(vocabulary=5, classes=2).eval()
        >>> logits = module(torch.tensor([[3, 0, 5, 5], [5, 3, 5, 0]]))  # the same words, elsewhere
        >>> logits.shape, torch.allclose(logits[0], logits[1])
        (torch.Size([2, 2]), True)
    """

    def __init__(self, vocabulary: int, classes: int, hidden: int = 64, dropout: float = 0.2) -> None:
        super().__init__()
        vocabulary, hidden = checked_size(vocabulary, "vocabulary"), checked_size(hidden, "hidden")
        classes = checked_size(classes, "classes")
        self.vocabulary, self.dropout = vocabulary, checked_probability(dropout, "dropout")
        self.vectors = torch.nn.EmbeddingBag(vocabulary, hidden, mode="mean", include_last_offset=True)
        self.first, self.second = torch.nn.Linear(hidden + 1, hidden), torch.nn.Linear(hidden, classes)

    def __repr__(self) -> str:
        return f"<{model_words(self)}>"

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits [rows, classes] of sequences [rows, length]."""
        if tokens.is_floating_point():
            raise InvalidInputError(
                f'expected words as integers, got {tokens.dtype}; give TorchClassifier dtype="int64"'
            )
        if tokens.numel() and (int(tokens.min()) < 0 or int(tokens.max()) > self.vocabulary):
            raise InvalidInputError(
                f"expected words from 0 to {self.vocabulary}, got {int(tokens.min())} to {int(tokens.max())}"
            )
        visible = tokens != self.vocabulary
        counts = visible.sum(dim=1)
        mean = self.vectors(tokens[visible], F.pad(counts.cumsum(dim=0), (1, 0)))
        mean = F.dropout(mean, self.dropout, self.training)
        seen = torch.cat([mean, counts.unsqueeze(1).to(mean.dtype).log1p()], dim=1)
        return self.second(self.first(seen).relu())  # type: ignore[no-any-return]  # a module's call is Any
