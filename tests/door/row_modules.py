"""Torch modules of rows, of images and of tokens."""

import numpy as np
import pytest

import flipproof as fp
from tests.door.row_pairs import DATA, RNG, Pair, pair


def network(*layers):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    return torch.nn.Sequential(*(make(torch.nn) for make in layers))


def asked(module, dtype="float32", read=lambda logits: logits.argmax(dim=1)):
    """The own labels of a module, in evaluation mode."""
    import torch

    def own(batch):
        module.eval()
        with torch.no_grad():
            return read(module(torch.tensor(batch, dtype=getattr(torch, dtype))))

    return own


@pair
def a_network_with_dropout_left_on():
    module = network(
        lambda nn: nn.Linear(6, 8), lambda nn: nn.ReLU(), lambda nn: nn.Dropout(), lambda nn: nn.Linear(8, 3)
    )
    return Pair(module.train(), asked(module))


@pair
def a_network_in_float64():
    module = network(lambda nn: nn.Linear(6, 8), lambda nn: nn.ReLU(), lambda nn: nn.Linear(8, 3)).double()
    return Pair(module, asked(module, "float64"))


@pair
def convolutions_of_images():
    module = network(
        lambda nn: nn.Conv2d(1, 2, 2), lambda nn: nn.ReLU(), lambda nn: nn.Flatten(), lambda nn: nn.Linear(2 * 4, 3)
    )
    return Pair(module, asked(module), RNG.integers(0, 4, (5, 1, 3, 3)))


@pair
def one_logit():
    module = network(lambda nn: nn.Linear(6, 1))
    module[0].bias.data[:] = -0.5
    module[0].weight.data *= 5
    return Pair(module, asked(module, read=lambda logits: logits[:, 0] > 0))


@pair
def one_logit_with_a_threshold():
    module = network(lambda nn: nn.Linear(6, 1), lambda nn: nn.Flatten(0))
    return Pair(module, asked(module, read=lambda logits: logits >= -0.25), options={"threshold": -0.25})


@pair
def one_sigmoid():
    module = network(lambda nn: nn.Linear(6, 1), lambda nn: nn.Sigmoid())
    return Pair(module, asked(module, read=lambda scores: scores[:, 0] > 0.5))


@pair
def the_logarithm_of_a_sigmoid():
    module = network(lambda nn: nn.Linear(6, 1), lambda nn: nn.LogSigmoid())
    return Pair(module, asked(module[0], read=lambda logits: logits[:, 0] > 0))


@pair
def tokens_by_an_embedding():
    module = network(lambda nn: nn.EmbeddingBag(5, 3))
    return Pair(module, asked(module, "int64"), fp.Tokens(DATA, padding=4))


@pair
def a_module_called_in_its_own_way():
    module = network(lambda nn: nn.Linear(6, 3))
    return Pair(module, asked(module, read=lambda logits: logits[:, :2].argmax(dim=1)), options={"call": first_two})


def first_two(module, rows):
    return module(rows)[:, :2]


@pair
def a_module_that_is_called_for_labels():
    module = network(lambda nn: nn.Linear(6, 3))
    options = {"call": lambda model, rows: model(rows).argmax(dim=1), "classes": 3}
    return Pair(module, asked(module), options=options)


@pair
def a_method_forward():
    module = network(lambda nn: nn.Linear(6, 3))
    return Pair(module.forward, asked(module))


def bert(**settings):
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    config = transformers.BertConfig(
        vocab_size=8, max_position_embeddings=8, **sizes, **{"num_labels": 3, "initializer_range": 1.0, **settings}
    )
    return transformers.BertForSequenceClassification(config)


def attending(model, padding):
    """The own labels of a model of Hugging Face that does not look at padding."""
    import torch

    def own(batch):
        model.eval()
        ids = torch.tensor(batch)
        mask = (ids != padding).long()
        mask[mask.sum(dim=1) == 0] = 1
        with torch.no_grad():
            return model(input_ids=ids.where(ids != padding, 0), attention_mask=mask).logits.argmax(dim=1)

    return own


@pair
def hugging_face():
    model = bert()
    return Pair(model, attending(model, 99))


@pair
def hugging_face_with_padding_that_is_not_in_its_vocabulary():
    model, texts = bert(), np.where(np.arange(6) < [[6], [4], [3], [5], [2]], DATA, 99)
    return Pair(model, attending(model, 99), fp.Tokens(texts, padding=99))


@pair
def hugging_face_with_hidden_tokens():
    model = bert()
    return Pair(model, attending(model, 0), fp.Tokens(DATA + 1, mask=0), fp.FlipNoise(0, 0.5))


@pair
def logits_squeezed():
    module = network(lambda nn: nn.Linear(6, 3))
    module.forward = lambda rows: module[0](rows).squeeze()
    return Pair(module, asked(module[0]))


@pair
def one_logit_squeezed():
    module = network(lambda nn: nn.Linear(6, 1))
    module.forward = lambda rows: module[0](rows).squeeze()
    return Pair(module, asked(module[0], read=lambda logits: logits[:, 0] >= 0), options={"threshold": 0})


@pair
def a_method_of_a_module():
    import torch

    class Strict(torch.nn.Linear):
        def predict(self, rows):
            return (self(rows)[:, 1] > 1).long()

    torch.manual_seed(0)
    module = Strict(6, 3)
    return Pair(module.predict, asked(module, read=lambda logits: logits[:, 1] > 1), options={"classes": 2})


@pair
def a_scripted_module():
    torch = pytest.importorskip("torch")
    module = network(lambda nn: nn.Linear(6, 8), lambda nn: nn.Dropout(), lambda nn: nn.Linear(8, 3))
    return Pair(torch.jit.script(module.train()), asked(module))


@pair
def a_network_in_bfloat16():
    torch = pytest.importorskip("torch")
    module = network(lambda nn: nn.Linear(6, 1)).to(torch.bfloat16)
    return Pair(module, asked(module, "bfloat16", lambda logits: logits[:, 0] >= 0.25), options={"threshold": 0.25})


@pair
def a_recurrent_network_of_tokens():
    torch = pytest.importorskip("torch")

    class Recurrent(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.head, self.words = torch.nn.Linear(4, 3), torch.nn.Embedding(4, 4)
            self.cells = torch.nn.LSTM(4, 4, num_layers=2, dropout=0.5, batch_first=True)

        def forward(self, rows):
            return self.head(5 * self.cells(self.words(rows))[0][:, -1])

    module = Recurrent().train()
    return Pair(module, asked(module, "int64"))


@pair
def distilbert():
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(0)
    sizes = {"vocab_size": 8, "dim": 8, "n_layers": 1, "n_heads": 2, "hidden_dim": 8, "initializer_range": 1.0}
    model = transformers.DistilBertForSequenceClassification(transformers.DistilBertConfig(**sizes, num_labels=3))
    return Pair(model, asked(model, "int64", lambda answer: answer.logits.argmax(dim=1)))
