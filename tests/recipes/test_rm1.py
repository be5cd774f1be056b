"""Resource Management in both layouts: readers with flawed corpora, and tiny corpora from files to a table."""

import json
import logging
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from asr.acoustic.gmm_training import GmmSettings
from asr.acoustic.hybrid_training import HybridSettings
from asr.acoustic.search_settings import SearchSettings
from asr.corpus.audio import read_audio
from asr.corpus.case_insensitive_dir import FoldedTree
from asr.corpus.sphinx_features import read_sphinx_features
from asr.corpus.synth_sentences import read_sentence_grammar
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.grammar import perplexity, word_pair
from asr.lexicon import read_lexicon
from asr.training.config import TrainingConfig, TuningSettings
from asr.training.dataset import Dataset
from asr.util.errors import ConfigError, CorpusError, FeatureError, GrammarError, LexiconError
from asr.util.resources import resource
from recipes.rm1 import __main__ as recipe
from recipes.rm1 import cepstra, discs
from recipes.rm1.cepstra import by_test_set, numbered_words, read_cepstra
from recipes.rm1.constant_frames import frames_in_runs, without_frames
from recipes.rm1.corpus import Rm1Corpus
from recipes.rm1.disc_texts import read_ndx, read_prompts, read_sexes
from recipes.rm1.discs import read_discs
from recipes.rm1.layout import find_layout
from recipes.rm1.simulate_corpus import Size, _sri_phones, difficulty, plan, simulate_corpus
from recipes.rm1.sphere import check_sphere, sphere_bytes
from recipes.rm1.sri_lexicon import fold_phones, read_sri_lexicon
from recipes.specifications import HybridSpecification, MixtureSpecification

TINY = Size(n_train_speakers=4, n_sentences=12, n_test_speakers=2, n_test_sentences=2)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A tiny corpus in each layout."""
    root = tmp_path_factory.mktemp("rm1")
    for layout in ("discs", "cepstra"):
        simulate_corpus(root / layout, layout, size=TINY, jobs=2)
    return {"discs": root / "discs", "cepstra": root / "cepstra"}


@pytest.fixture
def copied(tiny, tmp_path) -> Callable[[str], Path]:
    """A copy of a tiny corpus, to be spoilt."""

    def copy(layout: str) -> Path:
        return shutil.copytree(tiny[layout], tmp_path / "corpus")

    return copy


def first(folder: Path, suffix: str) -> Path:
    return sorted(path for path in folder.rglob(f"*{suffix}") if not path.name.startswith("sa"))[0]


def capitals(folder: Path) -> None:
    """Every name in capital letters, as some discs have them."""
    for path in sorted(folder.rglob("*"), key=lambda path: len(path.parts), reverse=True):
        path.rename(path.with_name(path.name.upper()))


# ---- the readers of texts --------------------------------------------------------------------------------------------


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_list_has_paths_with_comments_backslashes_and_without_suffix(tmp_path):
    text = "; a comment\n\n/rm1/ind/abc0_1/SR001.SPH\nrm1\\ind\\abc0_1\\sr002.sph ; another\nrm1/ind/bcd0_2/sr003\n"
    found = [str(path) for path in read_ndx(write(tmp_path / "x.ndx", text))]
    assert found == ["rm1/ind/abc0_1/SR001.SPH", "rm1/ind/abc0_1/sr002.sph", "rm1/ind/bcd0_2/sr003.sph"]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("a/b c.sph", "white space"),
        ("../../a/b.sph", "leads out"),
        ("b.sph", "no folder"),
        ("x/a/b.sph\nX/A/B", "twice"),
        ("a/../b/c.sph", "leads out"),
    ],
)
def test_a_list_that_cannot_be_right_is_refused_with_its_line(tmp_path, line, fault):
    with pytest.raises(CorpusError, match=rf"x\.ndx:[12]: .*{fault}"):
        read_ndx(write(tmp_path / "x.ndx", f"{line}\n"))


def test_prompts_have_the_id_in_brackets_behind(tmp_path):
    found = read_prompts(write(tmp_path / "x.snr", "; prompts\nList the Ships (SR001)\nSHOW IT'S STATUS  (sr002)\n"))
    assert found == {"sr001": ("LIST", "THE", "SHIPS"), "sr002": ("SHOW", "IT'S", "STATUS")}


@pytest.mark.parametrize("text", ["LIST THE SHIPS\n", "(SR001)\n", "A (SR001)\nB (sr001)\n"])
def test_prompts_that_cannot_be_right_are_refused_with_their_line(tmp_path, text):
    with pytest.raises(CorpusError, match=r"x\.snr:[12]: "):
        read_prompts(write(tmp_path / "x.snr", text))


def test_sexes_stand_behind_speakers_and_headings_are_passed_over(tmp_path):
    found = read_sexes(write(tmp_path / "s.txt", "; c\nSPEAKER SEX REGION\nADG0 M 4\nbcg1 f 2\n"))
    assert found == {"adg0": "m", "bcg1": "f"}
    with pytest.raises(CorpusError, match=r"s\.txt:2: .*another sex"):
        read_sexes(write(tmp_path / "s.txt", "ADG0 M\nadg0 F\n"))


@pytest.mark.parametrize(
    ("phones", "folded"),
    [
        ("tcl t ae", "t ae"),
        ("ae tcl", "ae td"),
        ("ae dcl kcl pcl bcl gcl", "ae dd kd pd b g"),
        ("tcl t s iy", "ts iy"),
        ("s tcl t s", "s ts"),
        ("q zh eng hv em axr", "sh ng hh m er"),
        ("tcl t q s", "t s"),
        ("kcl t", "kd t"),
    ],
)
def test_phones_of_sri_are_folded_as_the_peers_fold_them(phones, folded):
    assert fold_phones(phones.split()) == tuple(folded.split())


def test_the_lexicon_of_sri_has_entries_in_small_letters_and_other_lines(tmp_path):
    text = ";; header\nSRI lexicon\nabout's  ax b aw+1 tcl s\nabout    ax b aw+1 tcl t\n"
    lexicon = read_sri_lexicon(write(tmp_path / "l.txt", text))
    assert lexicon["ABOUT'S"] == (("ax", "b", "aw", "td", "s"),) and lexicon["ABOUT"] == (("ax", "b", "aw", "t"),)
    assert len(lexicon) == 2


@pytest.mark.parametrize("line", ["word", "word q", "word AH", "word 1 ah"])
def test_an_entry_of_sri_that_cannot_be_right_is_refused_with_its_line(tmp_path, line):
    with pytest.raises(LexiconError, match=r"l\.txt, line 2: "):
        read_sri_lexicon(write(tmp_path / "l.txt", f"a ax\n{line}\n"))


@pytest.mark.parametrize("big_endian", [False, True])
def test_sphere_is_read_as_it_was_written_in_both_byte_orders(tmp_path, big_endian):
    samples = np.random.default_rng(0).integers(-3000, 3000, 500).astype(np.int16)
    (tmp_path / "x.sph").write_bytes(sphere_bytes(samples, 16000, {"speaker_id": "abc"}, big_endian=big_endian))
    check_sphere(tmp_path / "x.sph", 16000)
    np.testing.assert_array_equal(read_audio(tmp_path / "x.sph", rate=16000), samples)


def test_sphere_that_is_cut_of_another_rate_or_damaged_is_told(tmp_path):
    path = tmp_path / "x.sph"
    path.write_bytes(sphere_bytes(np.zeros(500, np.int16), 8000))
    with pytest.raises(CorpusError, match="8000 Hz"):
        check_sphere(path, 16000)
    whole = path.read_bytes()
    for content, message in (
        (whole[:-1], "1 bytes are missing at the end"),
        (whole[:900], "header should have 1024"),
        (b"RIFF" + whole[4:], "begins with"),
        (whole.replace(b"sample_count", b"sample_kount"), "no number for sample_count"),
    ):
        path.write_bytes(content)
        with pytest.raises(CorpusError, match=message):
            check_sphere(path, 8000)


# ---- frames of digital silence ---------------------------------------------------------------------------------------


def naive_frames_in_runs(samples: np.ndarray, config: FeatureConfig, shortest: int) -> list[bool]:
    """Frame by frame: how far the value at the middle reaches to both sides."""
    found = []
    for start in range(0, len(samples) - config.window_samples + 1, config.shift_samples):
        left = right = start + config.window_samples // 2
        while left and samples[left - 1] == samples[right]:
            left -= 1
        while right + 1 < len(samples) and samples[right + 1] == samples[left]:
            right += 1
        found.append(right - left + 1 >= shortest)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_frames_in_runs_are_those_that_a_loop_finds(seed):
    rng = np.random.default_rng(seed)
    samples = np.repeat(rng.integers(-2, 3, 40), rng.integers(1, 400, 40)).astype(np.float32)
    config = FeatureConfig()
    found = frames_in_runs(samples, config, 250)
    assert found.tolist() == naive_frames_in_runs(samples, config, 250) and found.any()


def test_frames_are_dropped_and_what_is_left_keeps_its_order():
    table = FrameTable.from_utterances("abc", "xxy", [np.arange(n * 2).reshape(n, 2) for n in (3, 2, 4)])
    dataset = Dataset(table, dict.fromkeys("abc", ("ONE",)))
    left = without_frames(dataset, {"a": [1], "b": [0, 1]})
    assert left.static.ids == ("a", "c") and left.static.speakers == ("x", "y")
    assert left.static.utterance("a").tolist() == [[0, 1], [4, 5]] and len(left.static.utterance("c")) == 4
    with pytest.raises(FeatureError, match="digital silence"):
        without_frames(dataset, {"a": [0, 1, 2], "b": [0, 1], "c": [0, 1, 2, 3]})


# ---- the layouts -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_layout_is_told_by_what_is_there_in_either_letter_case(tiny, tmp_path):
    assert find_layout(FoldedTree(tiny["discs"])) == "discs" and find_layout(FoldedTree(tiny["cepstra"])) == "cepstra"
    with pytest.raises(CorpusError, match=r"Expected .*rm1_audio1.* or .*rm1/etc.*--download"):
        find_layout(FoldedTree(tmp_path))
    (tmp_path / "RM1_AUDIO1").mkdir()
    assert find_layout(FoldedTree(tmp_path)) == "discs"
    (tmp_path / "RM1" / "ETC").mkdir(parents=True)
    with pytest.raises(CorpusError, match="has both"):
        find_layout(FoldedTree(tmp_path))


def test_names_that_letter_case_alone_tells_apart_are_refused(tmp_path):
    (tmp_path / "rm1").mkdir()
    (tmp_path / "RM1").mkdir()
    assert FoldedTree(tmp_path).find("rm1") == tmp_path / "rm1"
    with pytest.raises(CorpusError, match="letter case"):
        FoldedTree(tmp_path).find("Rm1")


def read(layout: str, root: Path) -> Rm1Corpus:
    return read_discs(FoldedTree(root)) if layout == "discs" else read_cepstra(FoldedTree(root))


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["discs", "cepstra"])
def test_a_corpus_is_read_with_its_speakers_words_and_grammar(tiny, layout):
    corpus = read(layout, tiny[layout])
    train = corpus.splits["train"]
    assert len(train) == 4 * 12 and len(train.speakers) == 4 and not train.problems
    assert corpus.tests == (("feb89", "oct89") if layout == "discs" else ("test",))
    assert sum(len(corpus.splits[name]) for name in corpus.tests) == 8
    assert not any("-sa" in utterance.id for utterance in train.utterances)
    assert set(corpus.grammar.words) == set(read_lexicon(resource("fleet", "lexicon.txt")).words)
    assert any("48 of the 48" in note for note in corpus.notes)
    if layout == "discs":
        assert set(train.gender.values()) == {"m", "f"}
        assert [note for note in corpus.notes if "feb91" in note and "6_indtst.ndx" in note]


def test_both_layouts_hold_the_same_speech_and_words(tiny):
    first_corpus, second = read("discs", tiny["discs"]), read("cepstra", tiny["cepstra"])
    spoken = {utterance.id: utterance.words for utterance in first_corpus.splits["train"].utterances}
    assert spoken == {utterance.id: utterance.words for utterance in second.splits["train"].utterances}


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["discs", "cepstra"])
def test_a_corpus_in_capital_letters_is_the_same_corpus(copied, tiny, layout):
    root = copied(layout)
    capitals(root)
    expected, found = read(layout, tiny[layout]), read(layout, root)
    for name in expected.splits:
        texts = [
            [(u.id.casefold(), u.speaker.casefold(), u.words) for u in corpus.splits[name].utterances]
            for corpus in (expected, found)
        ]
        assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("layout", "lacking", "named"),
    [
        ("discs", (discs.PROMPTS, discs.WORD_PAIRS, discs.LEXICON), (discs.PROMPTS, discs.WORD_PAIRS, discs.LEXICON)),
        (
            "cepstra",
            (cepstra.DICTIONARY, cepstra.LISTS["test"][0], "RM_G.fst"),
            (cepstra.DICTIONARY, "RM_G.fst", "wp_gram.txt"),
        ),
    ],
)
def test_everything_that_a_layout_lacks_is_named_at_once(copied, layout, lacking, named):
    root = copied(layout)
    for name in lacking:
        (root / name).unlink()
    with pytest.raises(CorpusError) as error:
        read(layout, root)
    assert "3 files or folders are missing" in str(error.value)
    assert all(str(root / name) in str(error.value) for name in named)


def test_the_further_speakers_are_asked_for_by_name(tiny):
    with pytest.raises(CorpusError, match="dev_aug"):
        read_discs(FoldedTree(tiny["discs"]), 109)


def test_the_further_speakers_train_with_the_others(copied):
    root = copied("discs")
    more = root / discs.MORE_TRAINING
    shutil.copytree(next((root / discs.TRAIN_FOLDER).iterdir()), more / "xyz0_1")
    corpus = read_discs(FoldedTree(root), 109)
    assert len(corpus.splits["train"].speakers) == 5


def test_missing_recordings_of_a_test_are_all_named(copied):
    root = copied("discs")
    places = sorted((root / discs.TEST_ROOT).rglob("*.sph"))[:3]
    for path in places:
        path.rename(path.with_name(f"renamed-{path.name}"))
    with pytest.raises(CorpusError) as error:
        read_discs(FoldedTree(root))
    assert all(str(path) in str(error.value) for path in places)


@pytest.mark.slow
@pytest.mark.parametrize(("layout", "suffix"), [("discs", ".sph"), ("cepstra", ".mfc")])
def test_damaged_recording_is_left_out_or_ends_the_reading(copied, tiny, layout, suffix):
    root = copied(layout)
    train = read(layout, root).splits["train"].utterances[0].source
    os.truncate(train, train.stat().st_size - 3)
    problems = read(layout, root).splits["train"].problems
    assert [(problem.code, str(train) in problem.message) for problem in problems] == [("truncated", True)]
    split = "feb89" if layout == "discs" else "test"
    test = read(layout, tiny[layout]).splits[split].utterances[0].source
    spoilt = root / test.relative_to(tiny[layout])
    os.truncate(spoilt, spoilt.stat().st_size - 3)
    with pytest.raises(CorpusError, match=r"1 of the .* recordings of this test set"):
        read(layout, root)


def test_cepstra_of_the_other_byte_order_are_read_alike(copied):
    root = copied("cepstra")
    path = first(root, ".mfc")
    expected = read_sphinx_features(path)
    path.write_bytes(np.frombuffer(path.read_bytes(), ">i4").astype("<i4").tobytes())
    assert read_cepstra(FoldedTree(root)).splits["train"].problems == ()
    np.testing.assert_array_equal(read_sphinx_features(path), expected)


def test_a_sentence_without_a_prompt_is_left_out_of_training(copied):
    root = copied("discs")
    lines = (root / discs.PROMPTS).read_text().splitlines(keepends=True)
    (root / discs.PROMPTS).write_text("".join(line for line in lines if "(SR0001)" not in line))
    corpus = read_discs(FoldedTree(root))
    assert [problem.code for problem in corpus.splits["train"].problems] == ["no-transcript"]


def test_the_word_pairs_of_the_discs_serve_the_cepstra_too(copied, tiny):
    root = copied("cepstra")
    (root / "RM_G.fst").unlink()
    shutil.copy(tiny["discs"] / discs.WORD_PAIRS, root / "wp_gram.txt")
    assert read_cepstra(FoldedTree(root)).grammar_file == root / "wp_gram.txt"


def test_a_transducer_numbered_by_another_dictionary_is_refused(copied):
    root = copied("cepstra")
    path = root / cepstra.DICTIONARY
    path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))
    with pytest.raises(GrammarError, match="other numbers"):
        read_cepstra(FoldedTree(root))


def test_words_are_numbered_by_their_lines_without_variants(tmp_path):
    path = write(tmp_path / "rm1.dic", "A AH\nA(2) EY\nBE B IY\n\nSEA S IY\n")
    assert numbered_words(path) == {1: "A", 2: "BE", 4: "SEA"}


def test_a_test_list_with_folders_of_sets_is_divided(tiny):
    test = read_cepstra(FoldedTree(tiny["cepstra"])).splits["test"]
    assert list(by_test_set(test)) == ["test"]
    named = tuple(
        replace(utterance, id=f"{'4_feb89' if number % 2 else 'oct89'}-{utterance.id}")
        for number, utterance in enumerate(test.utterances)
    )
    divided = by_test_set(replace(test, utterances=named))
    assert {name: len(part) for name, part in divided.items()} == {"feb89": 4, "oct89": 4}


# ---- the artificial corpus -------------------------------------------------------------------------------------------


def test_simulated_corpus_has_the_perplexity_of_resource_management():
    grammar = read_sentence_grammar(resource("fleet", "sentences.txt"))
    lexicon = read_lexicon(resource("fleet", "lexicon.txt"), format="kaldi")
    assert set(lexicon.words) == set(grammar.words) and 950 <= len(lexicon) <= 1050
    rng = np.random.default_rng(1)
    assert 45 < perplexity(word_pair(grammar.word_pairs()), [grammar.draw(rng) for _ in range(500)]) < 75


def test_the_lexicon_in_sri_form_is_read_back_to_as_many_phones():
    lexicon = read_lexicon(resource("fleet", "lexicon.txt"), format="kaldi")
    folded = {"td": "t", "dd": "d", "kd": "k", "pd": "p"}
    for word in lexicon.words:
        written = [phone.replace("+1", "") for phone in _sri_phones(lexicon[word][0])]
        read_back = [folded.get(phone, phone) for phone in fold_phones(written)]
        spoken = " ".join(lexicon[word][0]).lower().replace("zh", "sh").replace("t s", "ts")
        assert " ".join(read_back).replace("t s", "ts") == spoken, word


def test_nobody_reads_what_somebody_else_has_read_and_no_voice_is_in_both():
    grammar = read_sentence_grammar(resource("fleet", "sentences.txt"))
    readings = plan(grammar, difficulty(0), Size(), ["feb89", "oct89"])
    n_speakers = [sum(reading.split == split for reading in readings) for split in ("train", "feb89", "oct89")]
    assert n_speakers == [72, 10, 10]
    sentences = [words for reading in readings for words in reading.listed.values()]
    assert len(set(sentences)) == len(sentences) == 720 + 600
    voices = {split: {r.speaker.voice for r in readings if (r.split == "train") == split} for split in (True, False)}
    assert voices[True].isdisjoint(voices[False])
    assert len({reading.folder for reading in readings}) == 92


def test_simulated_corpus_is_the_same_for_any_jobs_and_not_overwritten(tmp_path):
    size = Size(2, 1, 1, 1)
    simulate_corpus(tmp_path / "a", "cepstra", size=size, tests=["feb89"], jobs=1)
    simulate_corpus(tmp_path / "b", "cepstra", size=size, tests=["feb89"], jobs=3)
    contents = [
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (tmp_path / "a", tmp_path / "b")
    ]
    assert contents[0] == contents[1] and len(contents[0]) == 3 + 6
    with pytest.raises(CorpusError, match="already exists"):
        simulate_corpus(tmp_path / "a", "discs")


# ---- the recipe ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["discs", "cepstra"])
def test_the_recipe_goes_from_files_to_a_table(tiny, tmp_path, monkeypatch, caplog, layout):
    def small(features):
        parameters = {"n_centers": 30, "n_candidates": 60, "max_iter": 1, "min_steps": 20}
        hybrid = HybridSettings(classifier="kernel-logistic", parameters=parameters, vtlp_warps=())
        return (MixtureSpecification("gmm", features, (1, 2)),), (HybridSpecification("ovr", hybrid, features),)

    monkeypatch.setattr(recipe, "ours", small)

    def quick(features, mixtures):
        search = SearchSettings(lm_scale=8.0, beam=40.0, max_active=300)
        return TrainingConfig(
            features=features,
            gmm=GmmSettings(mixtures=(1, 2), iterations=(3, 2)),
            gmm_search=search,
            hybrid_search=search,
            tuning=TuningSettings(held_out=0.25, words=20, scale_factors=(1.0,), penalty_factors=(0.0,)),
        )

    monkeypatch.setattr(recipe, "training_config", quick)
    work = tmp_path / "work"
    monkeypatch.setattr(sys, "argv", ["rm1", "--corpus-dir", str(tiny[layout]), "--work-dir", str(work), "--jobs", "1"])
    with caplog.at_level(logging.INFO):
        recipe.main()
    rows = json.loads((work / "results.json").read_text())
    splits = ["feb89", "oct89"] if layout == "discs" else ["test"]
    assert [(row["system"], row["grammar"], row["split"]) for row in rows] == [
        (system, "wordpair", split) for split in splits for system in ("gmm-1", "gmm-2", "ovr")
    ]
    still = [record.getMessage() for record in caplog.records if "equal samples" in record.getMessage()]
    assert len(still) == (layout == "discs")
    if still:
        assert still[0].startswith("4 frames of 1 recordings")


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        (["--widths", "8"], "--systems table-4.2"),
        (["--systems", "table-4.2", "--widths", "8", "0"], "--widths 0"),
        (["--systems", "table-4.2", "--widths", "nan"], "--widths nan"),
    ],
)
def test_widths_that_serve_nothing_are_refused_before_the_corpus_is_read(tmp_path, monkeypatch, given, texts):
    monkeypatch.setattr("sys.argv", ["rm1", "--corpus-dir", str(tmp_path), "--work-dir", str(tmp_path / "w"), *given])
    with pytest.raises(ConfigError, match=texts):
        recipe.main()
