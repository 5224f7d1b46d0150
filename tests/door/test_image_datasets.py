"""Datasets of images as they are: noise changes levels of brightness, and the model gets numbers as before."""

import itertools

import numpy as np
import pytest

import flipproof as fp
from flipproof.noise.laws import as_given, sampler_of, space_for, space_of
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.images import Images
from flipproof.smoothing.fingerprint.fingerprints import fingerprint

torch = pytest.importorskip("torch")

GREY = fp.FlipNoise(0.2, 0.2, 256)
BINARY = fp.FlipNoise(0.05, 0.2)
RANDOM = torch.Generator().manual_seed(0)
LEVELS = torch.randint(0, 256, (8, 1, 6, 6), generator=RANDOM)
LABELS = torch.arange(8) % 3


class Photos(torch.utils.data.Dataset):
    """Gives (image, label) as datasets of torchvision with ToTensor do."""

    def __init__(self, images=LEVELS, transform=lambda image: image.float().div(255)):
        self.images, self.transform = images, transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.transform(self.images[i]), int(LABELS[i])


class LikeADataset:
    """Has a length and items, and no class of torch."""

    def __len__(self):
        return 8

    def __getitem__(self, i):
        return (LEVELS[i] > 127).float(), 0


def small_cnn():
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(64, 3)]
    return torch.nn.Sequential(*layers)


PAIRS = {
    "photos": (Photos(), GREY),
    "a part": (torch.utils.data.Subset(Photos(), [5, 2, 3]), GREY),
    "tensors": (torch.utils.data.TensorDataset(LEVELS.float().div(255), LABELS), GREY),
    "black and white": (Photos(transform=lambda image: (image > 127).float()), BINARY),
    "like a dataset": (LikeADataset(), BINARY),
    "16 levels": (Photos(LEVELS // 16, lambda image: image.float().div(15)), fp.FlipNoise(0.1, 0.1, 16)),
    "integers": (Photos(transform=lambda image: image), GREY),
}


@pytest.mark.parametrize("name", PAIRS)
def test_votes_are_the_models_own_answers(name):
    data, noise = PAIRS[name]
    model, names = small_cnn(), {"data": data, "noise": noise}
    names["model"] = model
    exec("import flipproof as fp\nvotes = fp.vote(model, data, noise, 20, 40)\ncertificates = fp.certify(votes)", names)
    votes = names["votes"]
    sampler = sampler_of(space_for(data, noise), noise, 0)
    drawn = as_given(sampler, sampler.draw(Role.ESTIMATE, range(40), np.arange(len(data))))
    with torch.no_grad():
        labels = model(torch.tensor(drawn).float()).argmax(dim=1).numpy().reshape(40, len(data))
    assert np.array_equal(votes.estimation, np.stack([(labels == c).sum(axis=0) for c in range(3)], axis=1))
    assert len(names["certificates"]) == len(data)


@pytest.mark.parametrize("name", PAIRS)
def test_the_model_gets_clean_images_as_from_the_dataset(name):
    data, noise = PAIRS[name]
    sampler = sampler_of(space_for(data, noise), noise.without_noise(), 0)
    clean = as_given(sampler, sampler.draw(Role.ESTIMATE, range(1), np.arange(len(data))))
    own = np.stack([np.asarray(data[i][0]) for i in range(len(data))])
    assert np.array_equal(clean, own)
    assert clean.dtype == own.dtype or own.dtype.kind == "i"


def test_no_image_in_a_ball_changes_its_label_and_noise_sees_levels_alone():
    """Two pixels of three levels: everything that a model may see is a function of the drawn levels."""
    noise = fp.FlipNoise(2 / 16, 6 / 16, 3)
    points = np.array([[a, b] for a in range(3) for b in range(3)])
    images = Images.of_numbers((points / 2).astype(np.float32), 3)
    assert np.array_equal(images.values, points)
    sampler = images.sampler(noise, 0)
    seen = as_given(sampler, sampler.draw(Role.ESTIMATE, range(500), np.arange(9)))
    assert {tuple(row) for row in seen.tolist()} == {(a / 2, b / 2) for a in range(3) for b in range(3)}
    law = np.array([[14 / 16, 1 / 16, 1 / 16], [3 / 16, 10 / 16, 3 / 16], [3 / 16, 3 / 16, 10 / 16]])
    certified = 0
    for seed in range(20):
        labels = (np.random.default_rng(seed).normal(size=(3, 9)) + np.eye(3)[points[:, 0]].T).argmax(axis=0)
        shares = np.einsum("ai,bj,ijc->abc", law, law, np.eye(3)[labels].reshape(3, 3, 3)).reshape(9, 3)
        best, second = np.sort(shares, axis=1)[:, ::-1][:, :2].T
        for here in range(9):
            for there in range(9):
                before, after = points[here], points[there]
                radii = fp.Radii(
                    add=int(((before == 0) & (after > 0)).sum()),
                    delete=int(((before > 0) & (after == 0)).sum()),
                    change=int(((before > 0) & (after > 0) & (before != after)).sum()),
                )
                if here != there and best[here] > second[here] and fp.mu(noise, radii, best[here], second[here]) > 0:
                    assert shares[there].argmax() == shares[here].argmax()
                    certified += 1
    assert certified > 20


def refused(match, data, noise=GREY, error=fp.InvalidInputError):
    with pytest.raises(error, match=match):
        fp.vote(small_cnn(), data, noise, 2, 2)


def test_what_is_refused_says_what_to_do():
    normal = Photos(transform=lambda image: image.float().div(255).sub(0.5).div(0.25))
    refused("k / 255, as the noise has 256 categories, got .* at row 0.*leave Normalize out", normal)
    refused(r"numbers that are 0 or 1, got 0\.\d+ .*FlipNoise\(p, p, 256\)", Photos(), BINARY)
    refused("round them", Photos(transform=lambda image: image.float().div(254).clamp(max=1)))
    fp.vote(
        small_cnn(),
        Photos(transform=lambda image: image.float().div(254).clamp(max=1).mul(255).round().div(255)),
        GREY,
        2,
        2,
    )
    refused("leave random changes out", Photos(transform=lambda image: torch.rand(1, 6, 6).mul(255).round().div(255)))
    refused("got an empty one", torch.utils.data.Subset(Photos(), []))
    refused("give its dataset, loader.dataset", torch.utils.data.DataLoader(Photos()))
    refused("got a dict with", Photos(transform=lambda image: {"pixels": image}))
    ragged = [torch.zeros(1, 6, 6), torch.zeros(1, 5, 6)]
    refused(r"one shape, got \(1, 5, 6\) at item 1", Photos(ragged, lambda image: image))


def test_large_datasets_are_refused_before_they_are_read():
    class Large(Photos):
        def __len__(self):
            return 10**9

    refused(
        r"at most 1,073,741,824 .*got 1,000,000,000 images of 36; take some of them: .*Subset",
        Large(),
        GREY,
        fp.TooLargeError,
    )
    fp.vote(small_cnn(), torch.utils.data.Subset(Large(), range(4)), GREY, 2, 2)


def test_levels_are_part_of_the_data():
    one, two = Images(LEVELS % 2, 2), Images(LEVELS % 2, 3)
    assert fingerprint(one) != fingerprint(two)
    with pytest.raises(
        fp.InvalidInputError, match=r"noise with 2 categories for images of 2 levels, got 3: FlipNoise\("
    ):
        one.sampler(fp.FlipNoise(0.1, 0.1, 3), 0)
    assert space_of(Photos()).levels == 256
    assert space_of(LikeADataset()).levels == 2


def test_a_dataset_of_graphs_is_many_graphs():
    pyg = pytest.importorskip("torch_geometric.data")
    one = pyg.Data(edge_index=torch.tensor([[0, 1], [1, 0]]), x=torch.eye(2))

    class Pairs(torch.utils.data.Dataset):
        def __len__(self):
            return 3

        def __getitem__(self, i):
            return one

    assert len(space_of(torch.utils.data.Subset(Pairs(), [0, 2]))) == 2


class Items:
    """A dataset that makes its items."""

    def __init__(self, make):
        self.make = make

    def __len__(self):
        return 3

    def __getitem__(self, number):
        return self.make(number)


def test_refusals_name_the_cause():
    noise, calls = fp.FlipNoise(0.5, 0.5, 256), itertools.count()
    for make, refused in (
        (lambda number: (np.full((1, 2, 2), next(calls) % 2 if number == 2 else 0), 0), "another one for item 2"),
        (lambda number: np.full((1, 2, 2), 37.0 * number), "give levels as integers, .* or divide them by 255"),
        (lambda number: np.full((1, 2, 2), np.nan), "got nan at"),
        (lambda number: ("a text", 0), "expected images, got a dataset of texts such as 'a text'; give a list of"),
    ):
        with pytest.raises(fp.InvalidInputError, match=refused):
            space_of(Items(make), noise)
    for works in (
        lambda number: np.full((1, 2, 2), 37 * number),
        lambda number: np.full((1, 2, 2), 37.0 * number) / 255,
    ):
        assert len(space_of(Items(works), noise).values) == 3
    assert space_of(["a text"] * 3).lengths.tolist() == [2, 2, 2]


def test_masked_entries_are_refused():
    masked = np.ma.array([[0, 1]], mask=[[True, False]])
    with pytest.raises(fp.InvalidInputError, match="expected values without masked entries, got 1; fill them"):
        space_of(masked)
    assert space_of(masked.filled(1)).values.tolist() == [[1, 1]]
