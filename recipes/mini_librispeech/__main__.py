"""Mini LibriSpeech (OpenSLR 31): read books by 28 training speakers, LibriSpeech's lexicon and pruned trigram.

    python -m recipes.mini_librispeech --corpus-dir DIR --work-dir W [--download]

DIR holds `LibriSpeech/train-clean-5` and `LibriSpeech/dev-clean-2`, and from OpenSLR 11 `librispeech-lexicon.txt` and
`3-gram.pruned.3e-7.arpa.gz`; `--download` fetches what is missing. Scales, penalties and the primary system are chosen
on held-out training speakers. dev-clean-2 is the test set and decoded last. Its words that the lexicon lacks count as
errors. Published error rates of other systems are printed below the table.
"""

import hashlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.model_file import SearchSettings
from asr.corpus.audio import read_header
from asr.corpus.data_directory import DataDirectory
from asr.corpus.formats.librispeech import read_librispeech
from asr.corpus.formats.source import ReadOptions
from asr.features.config import FeatureConfig
from asr.grammar import Grammar, read_grammar
from asr.lexicon import read_lexicon
from asr.training.config import TrainingConfig, TuningSettings
from asr.training.dataset import Dataset
from asr.util.errors import CorpusError
from asr.util.text_lines import GZIP_MAGIC
from discriminants.util.paths import exists
from recipes.comparison import choose_primary, decode_test, pooled_row, train_and_tune
from recipes.corpus import checked, corpus_of, of_format
from recipes.download import Source, download
from recipes.recipe import finish, open_recipe, parse_arguments, run_recipe
from recipes.results import Published
from recipes.systems import mapped_systems

PARTS = {"train": "LibriSpeech/train-clean-5", "test": "LibriSpeech/dev-clean-2"}
LEXICON, TRIGRAM = "librispeech-lexicon.txt", "3-gram.pruned.3e-7.arpa.gz"
MIRRORS = ("https://www.openslr.org/resources", "https://openslr.elda.org/resources")


def _source(number: int, name: str, magic: bytes = b"", checksum: str = "", n_bytes: int = 0, top: str = "") -> Source:
    urls = tuple(f"{mirror}/{number}/{name}" for mirror in MIRRORS)
    return Source(name, urls, magic, checksum, n_bytes, top or None)


SOURCES = (
    _source(31, "train-clean-5.tar.gz", GZIP_MAGIC, "md5:5df7d4e78065366204ca6845bb08f490", top=PARTS["train"]),
    _source(31, "dev-clean-2.tar.gz", GZIP_MAGIC, "md5:6d7ab67ac6a1d2c993d050e16d61080d", top=PARTS["test"]),
    _source(11, LEXICON, n_bytes=5_627_653),
    _source(11, TRIGRAM, GZIP_MAGIC, n_bytes=13_654_242),
)
"""Checksums are those of OpenSLR 31. For OpenSLR 11, sizes are known from Kaldi's `local/download_lm.sh`."""
N_TEST_WORDS = 20_138  # of dev-clean-2, as in Kaldi's results
FEATURES = FeatureConfig(normalize="speaker")
SPLICED = FEATURES.model_copy(update={"context": 7, "lda_dimension": 60})
CONFIG = TrainingConfig(
    features=FEATURES,
    gmm_search=SearchSettings(lm_scale=12.0, beam=150.0, max_active=6000),
    hybrid_search=SearchSettings(lm_scale=7.0, beam=100.0, max_active=6000),
    tuning=TuningSettings(
        held_out=0.15, scale_factors=(0.7, 0.85, 1.0, 1.2, 1.4), penalty_factors=(-0.8, -0.4, 0.0, 0.4)
    ),
)
TIED_STATES = 600
CLASSIFIER = HybridSettings(
    classifier="kernel-logistic",
    parameters={"loss": "ovr", "n_centers": 4000, "n_candidates": 8000, "max_iter": 2},
    vtlp_warps=(0.92, 1.08),
    mixtures=32,
    augment_as_unadapted=True,
)
_KALDI = "Kaldi, egs/mini_librispeech/s5/RESULTS"
PUBLISHED = (
    Published("triphone GMM-HMM, speaker-adaptive, same trigram", 18.10, _KALDI),
    Published("hybrid network trained on sequences, same trigram", 18.58, _KALDI),
    Published("triphone GMM-HMM, speaker-adaptive, large trigram", 13.45, _KALDI),
    Published("hybrid network trained on sequences, large trigram", 13.35, _KALDI),
)


def read_part(root: Path, part: str, *, complete: bool) -> DataDirectory:
    """Read the recordings of a part, such as `LibriSpeech/dev-clean-2`; a `complete` one must have no damaged files."""
    found = corpus_of(root / part, (one for _, one in of_format(read_librispeech(root / part, ReadOptions()))))
    return checked(found, partial(read_header, rate=FEATURES.sample_rate), complete=complete)


def main() -> None:
    """Run the recipe."""
    arguments = parse_arguments(__doc__ or "", downloads=True)
    root = arguments.corpus_dir
    assert root is not None
    if arguments.download:
        download(root, SOURCES)
    missing = [str(root / name) for name in (*PARTS.values(), LEXICON, TRIGRAM) if not exists(root / name)]
    if missing:
        raise CorpusError(f"missing: {'; '.join(missing)}. Use --download", code="missing-file")
    corpora = {split: read_part(root, part, complete=split == "test") for split, part in PARTS.items()}
    lexicon = read_lexicon(root / LEXICON)
    trigram = read_grammar(root / TRIGRAM, vocabulary=lexicon.words)
    mixtures, hybrids = mapped_systems(FEATURES, SPLICED, CLASSIFIER, tied_states=TIED_STATES)
    recipe = open_recipe(
        "Mini LibriSpeech",
        arguments,
        root,
        CONFIG,
        mixtures,
        hybrids,
        lexicon=lexicon,
        inputs={"grammar": hashlib.sha256((root / TRIGRAM).read_bytes()).hexdigest()},
        corpora=corpora,
    )
    train, test = recipe.dataset("train"), recipe.dataset("test", known_only=False)

    def grammars(dataset: Dataset) -> Mapping[str, Grammar]:
        return {"trigram": trigram}

    systems = train_and_tune(recipe.context, "mini", train, mixtures, hybrids, grammars)
    primary = choose_primary(systems)
    decoded = decode_test(recipe.context, "test", systems, test, grammars(train))
    scored = [pooled_row([part], split="test", primary=primary) for part in decoded]
    words = [word for said in test.references.values() for word in said]
    unknown = sum(word not in lexicon for word in words)
    notes = [f"dev-clean-2: {len(words)} words, {unknown} of them not in the lexicon."]
    if len(words) != N_TEST_WORDS:
        notes.append(f"Published results have {N_TEST_WORDS} words, so they cannot be compared with these.")
    finish(recipe, scored, systems, notes, PUBLISHED)


if __name__ == "__main__":
    run_recipe(main)
