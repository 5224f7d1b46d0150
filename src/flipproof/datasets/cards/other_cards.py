"""The cards of image, text and table datasets, and of the datasets that need no download."""

from __future__ import annotations

from flipproof.datasets.cards.catalogue import Card, StoredForm
from flipproof.datasets.fetching.data_file import DataFile
from flipproof.datasets.readers.built_in import breast_cancer, digits, digits_graph, digits_grey
from flipproof.datasets.readers.images import read_cifar_arrays, read_cifar_batches, read_mnist
from flipproof.datasets.readers.text_files import SMS, read_sms_gzip, read_sms_zip

_MNIST_HOME = "https://ossci-datasets.s3.amazonaws.com/mnist"
_MNIST_MIRROR = "https://storage.googleapis.com/cvdf-datasets/mnist"


def _mnist_file(name: str, size: int, sha256: str) -> DataFile:
    return DataFile(name, size, sha256, (f"{_MNIST_HOME}/{name}", f"{_MNIST_MIRROR}/{name}"))


_MNIST = (
    _mnist_file(
        "train-images-idx3-ubyte.gz", 9_912_422, "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
    ),
    _mnist_file(
        "train-labels-idx1-ubyte.gz", 28_881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"
    ),
    _mnist_file(
        "t10k-images-idx3-ubyte.gz", 1_648_877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"
    ),
    _mnist_file("t10k-labels-idx1-ubyte.gz", 4_542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
)

_CIFAR_ARRAYS = DataFile(
    "cifar10_subset.npz", 16_991_636, "0351df2c31d366de6b510e8456a90dc386173d1ac9e335d975462650f58e8975"
)
_CIFAR_BATCHES = DataFile(
    "cifar-10-binary.tar.gz",
    170_052_171,
    "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
    ("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",),
)

_SMS_GZIP = DataFile("sms_spam.tsv.gz", 206_891, "03ea761204ef0452667e3eb6c114883ae6cabc779e86d31d55daebb1acb709fd")
_SMS_ZIP = DataFile(
    "sms+spam+collection.zip",
    400_000,
    "1587ea43e58e82b14ff1f5425c88e17f8496bfcdb67a583dbff9eefaf9963ce3",
    ("https://archive.ics.uci.edu/static/public/228/sms+spam+collection.zip",),
    (SMS,),
)

_BINARY = "pixel > 7 of 16"
_LICENCE = "CC BY 4.0 (UCI); comes with scikit-learn (BSD)"
_CITATION = "E. Alpaydin, C. Kaynak: Optical recognition of handwritten digits, UCI 1998"

OTHER_CARDS = (
    Card(
        name="mnist",
        kind="images",
        what="Handwritten digits of 28 x 28 pixels with 256 grey levels: 60000 to learn from, 10000 to test.",
        inputs=70_000,
        classes=10,
        nodes=None,
        edges=None,
        features=784,
        ones=7_273_790,
        binary="pixel > 127 of 255",
        licence="usually given as CC BY-SA 3.0",
        origin="Y. LeCun, C. Cortes, C. J. C. Burges; mirrors of PyTorch and of the CVDF",
        citation="Y. LeCun et al.: Gradient-based learning applied to document recognition, Proc. IEEE 86(11), 1998",
        forms=(StoredForm(_MNIST, read_mnist),),
    ),
    Card(
        name="cifar10",
        kind="images",
        what="Colour photos of 32 x 32 pixels with 256 levels: the first 5000 to learn from, the first 1000 to test.",
        inputs=6_000,
        classes=10,
        nodes=None,
        edges=None,
        features=3072,
        ones=None,
        binary=None,
        licence="none stated",
        origin="A. Krizhevsky, www.cs.toronto.edu/~kriz/cifar.html",
        citation="A. Krizhevsky: Learning multiple layers of features from tiny images, 2009",
        forms=(StoredForm((_CIFAR_ARRAYS,), read_cifar_arrays), StoredForm((_CIFAR_BATCHES,), read_cifar_batches)),
    ),
    Card(
        name="sms_spam",
        kind="text",
        what="Text messages: 4827 ham and 747 spam. Some occur more than once: split by distinct text.",
        inputs=5_574,
        classes=2,
        nodes=None,
        edges=None,
        features=None,
        ones=None,
        binary=None,
        licence="CC BY 4.0",
        origin="UCI Machine Learning Repository, dataset 228: SMS Spam Collection",
        citation="T. A. Almeida, J. M. Gómez Hidalgo, A. Yamakami: Contributions to the study of SMS spam filtering, "
        "DocEng 2011",
        forms=(StoredForm((_SMS_GZIP,), read_sms_gzip), StoredForm((_SMS_ZIP,), read_sms_zip)),
    ),
    Card(
        name="digits",
        kind="images",
        what="Handwritten digits of 8 x 8 black and white pixels: 1437 to learn from, 360 to test.",
        inputs=1797,
        classes=10,
        nodes=None,
        edges=None,
        features=64,
        ones=37_151,
        binary=_BINARY,
        licence=_LICENCE,
        origin="scikit-learn's load_digits",
        citation=_CITATION,
        forms=(StoredForm((), digits),),
    ),
    Card(
        name="digits-grey",
        kind="images",
        what="Handwritten digits of 8 x 8 pixels with 17 grey levels: 1437 to learn from, 360 to test.",
        inputs=1797,
        classes=10,
        nodes=None,
        edges=None,
        features=64,
        ones=None,
        binary=None,
        licence=_LICENCE,
        origin="scikit-learn's load_digits",
        citation=_CITATION,
        forms=(StoredForm((), digits_grey),),
    ),
    Card(
        name="digits-graph",
        kind="nodes",
        what="Handwritten digits, each joined to the five that look most like it, with black pixels as attributes.",
        inputs=1797,
        classes=10,
        nodes=1797,
        edges=6_309,
        features=64,
        ones=37_151,
        binary=_BINARY,
        licence=_LICENCE,
        origin="scikit-learn's load_digits; neighbours by squared distance of grey levels, ties by number",
        citation=_CITATION,
        forms=(StoredForm((), digits_graph),),
    ),
    Card(
        name="breast-cancer",
        kind="tables",
        what="Thirty measurements of tumours, each cut into two to four categories: 212 malignant, 357 benign.",
        inputs=569,
        classes=2,
        nodes=None,
        edges=None,
        features=30,
        ones=None,
        binary=None,
        licence=_LICENCE,
        origin="scikit-learn's load_breast_cancer; columns cut at quantiles into 2, 3, 4, 2, 3, 4, ... categories",
        citation="W. Wolberg, O. Mangasarian, N. Street, W. Street: Breast cancer Wisconsin (diagnostic), UCI 1993",
        forms=(StoredForm((), breast_cancer),),
    ),
)
