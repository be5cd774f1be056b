"""The corpora of the recipes: opened as a recipe opens them, up to the features of the training set."""

from pathlib import Path

from asr.corpus.list_file import read_list
from asr.features.augmentation import Augmentation
from asr.grammar import arpa_grammar, estimate_ngram
from asr.lexicon import read_lexicon, with_own_phones
from asr.training.config import TrainingConfig
from recipes.an4 import __main__ as an4
from recipes.fsdd import __main__ as fsdd
from recipes.recipe import Arguments, open_recipe
from recipes.speechocean import __main__ as speechocean
from recipes.timit.corpus import read_phones
from tests.fuzz.mutators.text_mutators import TEXT
from tests.fuzz.outcome import Unsound
from tests.fuzz.reader import Seeds, reader
from tests.fuzz.readers.corpora import AUDIO, archive, checked, wav

_CORPUS = {"tree": True, "writes": True, "renames": True}
_LEXICON = b"ONE W AH0 N\nTWO S UW1\nNO N UW2\n"


def _with_split(train: Seeds, split: str) -> Seeds:
    """The same data directory under another name."""
    copies = {name.replace("train/", f"{split}/"): content for name, content in train.items()}
    return {**train, **{name: content.replace(b"train/", f"{split}/".encode()) for name, content in copies.items()}}


def _open(folder: Path, title: str, config: TrainingConfig) -> None:
    arguments = Arguments(folder, folder / "run", jobs=1, rebuild_changed=False)
    recipe = open_recipe(title, arguments, folder, config, (), ())
    try:
        for corpus in recipe.corpora.values():
            checked(corpus)
        for split in ("train", "test"):
            recipe.dataset(split)
    finally:
        recipe.resources.close()


def _an4_seeds(folder: Path) -> Seeds:
    return {**_with_split(archive(folder), "test"), "lexicon.txt": _LEXICON}


reader("recipe-an4", _an4_seeds, TEXT, **_CORPUS)(lambda folder: _open(folder, "AN4", an4.CONFIG))


@reader("recipe-fsdd", {**_with_split(AUDIO, "test"), "lexicon.txt": _LEXICON}, TEXT, **_CORPUS)
def _fsdd(folder: Path) -> None:
    _open(folder, "Free Spoken Digits", fsdd.CONFIG)
    with_own_phones(read_lexicon(folder / "lexicon.txt"))


_SPEECHOCEAN = {
    **_with_split(_with_split(AUDIO, "test"), "dev"),
    "lexicon.txt": _LEXICON,
    "audio/rec1.wav": wav(seed=1, rate=16_000),
    "audio/rec2.wav": wav(seed=2, rate=16_000),
    "lm_train.text": b"a ONE TWO\nb TWO NO\nc NO NO NO\n",
    "noise/noise.scp": b"rain rain.wav\n",
    "noise/rain.wav": wav(seed=9),
}


@reader("recipe-speechocean", _SPEECHOCEAN, TEXT, **_CORPUS)
def _speechocean(folder: Path) -> None:
    sentences = [entry.value.split() for entry in read_list(folder / "lm_train.text").values()]
    arguments = Arguments(folder, folder / "run", jobs=1, rebuild_changed=False, noise_dir=folder / "noise")
    noise = speechocean.noise_clips(arguments)
    assert noise is not None
    lexicon = speechocean.folded(read_lexicon(folder / "lexicon.txt"))
    splits = ("train", "dev", "test")
    inputs = {"noise": noise.digest()}
    recipe = open_recipe(
        "speechocean762", arguments, folder, speechocean.CONFIG, (), (), splits, lexicon=lexicon, inputs=inputs
    )
    try:
        recipe.dataset("train")
        recipe.dataset("test", Augmentation(noise=noise, snr_db=10.0, seed=0))
        arpa_grammar(estimate_ngram(sentences, 2, vocabulary=lexicon.words))
    finally:
        recipe.resources.close()


@reader("timit-labels", {"sx37.phn": b"0 1600 h#\n1600 2400 q\n2400 3200 ao\n3200 4000 tcl\n4000 4800 h#\n"}, TEXT)
def _timit(path: Path) -> None:
    phones = read_phones(path)
    if any(start > end for start, end, _ in phones):
        raise Unsound("a phone that ends before it begins")
