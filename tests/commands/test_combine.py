"""`asr combine` and `asr.combine`: result directories in, words out, or one sentence about why not."""

import shutil
from pathlib import Path

import pytest

import asr as package
from asr.alignment.confusion_file import read_confusions, write_confusions
from asr.alignment.ctm import read_ctm
from asr.commands.combination_weights import AlignedUtterance, Vote, choose_vote
from asr.lattices.confusion_network import Bin
from asr.lattices.slf import read_slf_lattice
from asr.recognition.decode_dir import read_results
from asr.scoring.files import read_transcripts
from asr.util.errors import ConfigError, CorpusError, GrammarError
from tests.cli.place import check_one_sentence

UNCALIBRATED = ";; confidences: uncalibrated\n"  # the first line of hyp.ctm
REFERENCE = {"a": "ONE TWO THREE", "b": "FOUR", "c": "FIVE SIX"}


def results(path: Path, said: dict[str, str], confidence: str = "") -> Path:
    """A directory as `asr decode` writes it; words last 300 ms each."""
    path.mkdir()
    (path / "hyp.txt").write_text("".join(f"{name} {text}".rstrip() + "\n" for name, text in said.items()))
    (path / "hyp.ctm").write_text(
        "".join(
            f"{name} 1 {0.3 * number:.3f} 0.280 {word}{confidence}\n"
            for name, text in said.items()
            for number, word in enumerate(text.split())
        )
    )
    return path


@pytest.fixture
def three(tmp_path):
    return [
        results(tmp_path / "one", REFERENCE | {"a": "ONE TWO TREE"}),
        results(tmp_path / "two", REFERENCE | {"a": "ONE TOO THREE", "c": ""}),
        results(tmp_path / "three", REFERENCE | {"b": "FOR", "c": "FIVE"}),
    ]


def test_three_systems_vote_and_each_has_its_say_in_the_order_of_the_weights(three, tmp_path, asr):
    status, out, err = asr("combine", *three, "--out", tmp_path / "all")
    assert (status, out) == (0, f"{tmp_path / 'all' / 'hyp.txt'}\n")
    assert f"{three[0]}: words, weight 0.333" in err
    assert "3 utterances of 3 systems combined" in err
    assert (tmp_path / "all" / "hyp.txt").read_text() == "a ONE TWO THREE\nb FOUR\nc FIVE\n"
    assert (tmp_path / "all" / "hyp.ctm").read_text().splitlines()[:3] == [
        UNCALIBRATED.strip(),
        "a 1 0.000 0.280 ONE 1.000",
        "a 1 0.300 0.280 TWO 0.667",
    ]
    assert (tmp_path / "all" / "failed.tsv").read_text() == "utterance\tcode\treason\n"
    assert asr("combine", *three, "--weights", 0, 0, 1, "--out", tmp_path / "last")[0] == 0
    for name in ("hyp.txt", "hyp.ctm"):
        first = (tmp_path / "last" / name).read_text().removeprefix(UNCALIBRATED)
        assert first.replace(" 1.000\n", "\n") == (three[2] / name).read_text()


def test_a_system_with_itself_gives_its_own_files(three, tmp_path):
    own = results(tmp_path / "own", REFERENCE, " 0.730")
    made = package.combine([own, own, own], tmp_path / "out")
    assert (made.n_done, made.brings) == (3, ("words with confidences",) * 3)
    for name in ("hyp.txt", "hyp.ctm"):
        assert (tmp_path / "out" / name).read_text().removeprefix(UNCALIBRATED) == (own / name).read_text()


def heard(tmp_path: Path, n_utterances: int) -> tuple[list[Path], Path]:
    """Two systems, of which the first has a word wrong in every utterance, and the transcripts."""
    said = {f"u{number}": "ONE TWO" for number in range(n_utterances)}
    text = tmp_path / "text"
    text.write_text("".join(f"{name} {words}\n" for name, words in said.items()))
    wrong = dict.fromkeys(said, "ONE TOO")
    return [results(tmp_path / "one", wrong), results(tmp_path / "two", said)], text


def test_words_that_are_all_certain_do_not_outvote_each_other_and_that_is_said(tmp_path, caplog):
    wrong, right = heard(tmp_path, 2)[0]
    package.combine([wrong, right], tmp_path / "out")
    assert (tmp_path / "out" / "hyp.txt").read_bytes() == (wrong / "hyp.txt").read_bytes()
    assert "Neither system has confidences" in caplog.text
    caplog.clear()
    sure = results(tmp_path / "sure", {"u0": "ONE TWO"}, " 0.730")
    package.combine([sure, results(tmp_path / "certain", {"u0": "ONE TWO"})], tmp_path / "out")
    package.combine([wrong, right, right], tmp_path / "out")  # a majority
    assert "Neither system" not in caplog.text


def test_weights_are_chosen_on_transcripts_and_can_be_given_to_the_next(tmp_path, asr):
    systems, text = heard(tmp_path, 6)
    status, out, err = asr("combine", *systems, "--out", tmp_path / "dev", "--weights", "auto", "--text", text)
    assert status == 0, err
    assert out.splitlines()[1:] == [
        "chosen: --weights 0.4 0.6 --null 1",
        f"0 errors in 12 words of {text}, the transcripts of the choice; 6 errors with equal weights",
    ]
    assert (tmp_path / "dev" / "hyp.txt").read_bytes() == text.read_bytes()
    given = ["--weights", 0.4, 0.6, "--null", 1]
    assert asr("combine", *systems, "--out", tmp_path / "again", *given)[0] == 0
    assert (tmp_path / "again" / "hyp.ctm").read_bytes() == (tmp_path / "dev" / "hyp.ctm").read_bytes()


def test_what_may_be_luck_changes_no_weights(tmp_path):
    systems, text = heard(tmp_path, 3)
    made = package.combine(systems, tmp_path / "out", weights="auto", text=text)
    assert (made.weights, made.chosen.errors, made.chosen.errors_before) == ((0.5, 0.5), 3, 3)


def test_where_nothing_is_better_weights_stay_equal():
    certain = AlignedUtterance((0, 1), [(Bin((("A", 1.0),), 0, 1), Bin((("A", 1.0),), 0, 1))])
    start = Vote((0.5, 0.5), 1.0)
    chosen = choose_vote({"u": certain}, {"u": ["B"]}, start)
    assert (chosen.vote, chosen.errors, chosen.errors_before, chosen.words) == (start, 1, 1, 1)
    with pytest.raises(CorpusError, match="no utterance with words in common"):
        choose_vote({"u": certain}, {"v": ["B"]}, start)


def test_an_utterance_that_a_system_lacks_is_decided_by_the_others(tmp_path, caplog):
    one = results(tmp_path / "one", REFERENCE)
    two = results(tmp_path / "two", {"a": "ONE TOO THREE", "d": "TEN"})
    made = package.combine([one, two], tmp_path / "out", weights=[1, 0])
    assert made.n_done == 4
    assert read_transcripts(tmp_path / "out" / "hyp.txt")["d"] == ("TEN",)
    assert read_transcripts(tmp_path / "out" / "hyp.txt")["a"] == ("ONE", "TWO", "THREE")
    assert f"{two}: 2 utterances missing, combined from the other systems only: b, c" in caplog.text
    assert f"{one}: 1 utterance missing, combined from the other systems only: d" in caplog.text


@pytest.fixture(scope="module")
def decoded(toy_model, toy_corpus, tmp_path_factory):
    out = tmp_path_factory.mktemp("decoded")
    recognizer = package.Recognizer.load(toy_model, grammar="loop")
    recognizer.decode(
        out, data=toy_corpus / "test", confidence=True, confusions=True, mbr=True, lattices=out / "lattices"
    )
    return out


def test_networks_and_lattices_of_a_recognition_say_its_words(decoded, tmp_path):
    networks = read_results(decoded)
    alone = tmp_path / "alone"
    shutil.copytree(decoded, alone, ignore=shutil.ignore_patterns("confusions.tsv"))
    lattices = read_results(alone)
    assert (networks.brings, lattices.brings) == ("confusion networks", "lattices")
    for name, places in networks.networks.items():
        same = lattices.networks[name]
        kept = [place for place in same if any(word and share >= 5e-5 for word, share in place.words)]
        assert len(places) == len(kept)
        for one, other in zip(places, kept, strict=True):
            assert (one.begin, one.end) == pytest.approx((other.begin, other.end), abs=11)
            for word, share in one.words:
                assert dict(other.words)[word] == pytest.approx(share, abs=1e-3)
    for first, second in ((decoded, alone), (decoded, decoded)):
        package.combine([first, second], tmp_path / "out")
        assert (tmp_path / "out" / "hyp.txt").read_bytes() == (decoded / "hyp.txt").read_bytes()
    times = read_ctm(tmp_path / "out" / "hyp.ctm")
    for row, own in zip(times, read_ctm(decoded / "hyp.ctm"), strict=True):
        assert (row.start, row.duration) == pytest.approx((own.start, own.duration), abs=2e-3)


def test_networks_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "confusions.tsv"
    places = [Bin((("A:B", 0.75), ("", 0.25)), 0.5, 0.75), Bin((("", 0.9), ("ONE", 0.1)), 0.75, 1.0)]
    write_confusions(path, {"u": places, "silent": []})
    assert read_confusions(path) == {"u": places}
    write_confusions(path, {"u": [Bin((("", 0.99999), ("ONE", 0.00001)), 0.0, 1.0)]})
    assert read_confusions(path) == {"u": []}
    assert path.read_text().splitlines()[1].endswith("\t<eps>:1.0000")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("u\t0.1\t0.2", "tsv:2: .* four fields"),
        ("u\t0.1\tsoon\tA:1", r"tsv:2: 'soon'. Expected a number"),
        ("u\t0.3\t0.2\tA:1", r"tsv:2: the place ends at 0\.2"),
        ("u\t0.1\t0.2\tA", r"tsv:2: 'A' is not a word"),
        ("u\t0.1\t0.2\tA:1.5", r"tsv:2: '1\.5'. Expected a number from 0 to 1"),
        ("u\t0.1\t0.2\tA:0.7 B:0.7", r"tsv:2: the probabilities sum to 1\.4"),
        ("u\t0.1\t0.2\tA:0.5 A:0.5", "tsv:2: 'A' appears twice"),
        ("u\t0.1\t0.2\t", r"tsv:2: the probabilities sum to 0"),
        ("u v\t0.1\t0.2\tA:1", r"tsv:2: the utterance 'u v' must be one word"),
    ],
)
def test_a_malformed_line_of_networks_is_refused_with_its_number(tmp_path, line, reason):
    path = tmp_path / "confusions.tsv"
    path.write_text(f"utterance\tstart\tend\twords\n{line}\n")
    with pytest.raises(CorpusError, match=reason):
        read_confusions(path)


@pytest.mark.parametrize(
    ("spoil", "parts"),
    [
        (lambda path: shutil.rmtree(path), ["does not exist"]),
        (lambda path: (path / "hyp.txt").unlink(), ["hyp.txt", "No such file"]),
        (lambda path: (path / "hyp.ctm").unlink(), ["hyp.ctm", "No such file"]),
        (lambda path: (path / "hyp.txt").write_text(""), ["hyp.txt has no utterances"]),
        (lambda path: (path / "hyp.ctm").write_text("a 1 0 soon ONE\n"), ["hyp.ctm:1: 'soon'. Expected a number"]),
        (lambda path: (path / "hyp.ctm").write_text("a 1 0 1 ONE 1.5\n"), ["1.5 of 'ONE' in a is above 1"]),
        (lambda path: (path / "hyp.ctm").write_text("a 1 0 1 ONE\n"), ["have different words in a"]),
        (lambda path: (path / "hyp.ctm").write_text("x 1 0 1 ONE\n"), ["missing in hyp.txt: x"]),
        (
            lambda path: write_confusions(path / "confusions.tsv", {"a": [Bin((("NO", 1.0),), 0, 1)]}),
            ["confusions.tsv: 6 of the 6 words of hyp.txt are missing"],
        ),
        (lambda path: (path / "confusions.tsv").write_text("utterance\n"), ["confusions.tsv:1: 'utterance'"]),
        (
            lambda path: [(path / "lattices").mkdir(), (path / "lattices" / "b.lat").write_text("")],
            ["lattices/a.lat cannot be read"],
        ),
        (
            lambda path: [path.joinpath("hyp.txt").write_text("x\n"), path.joinpath("hyp.ctm").write_text("")],
            ["no utterance in common"],
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_directory_is_told_in_one_sentence(tmp_path, asr, spoil, parts):
    one, two = (results(tmp_path / name, REFERENCE) for name in ("one", "two"))
    spoil(two)
    check_one_sentence(asr("combine", one, two, "--out", tmp_path / "out"), *parts)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--weights", "0.5"], ["1 weights for 2 systems"]),
        (["--weights", "1", "nan"], ["from 0 to 1e6, at least one above 0"]),
        (["--weights", "0", "0"], ["one above 0"]),
        (["--weights", "auto"], ["must be used together"]),
        (["--null", "nan"], ["--null (null=) is nan"]),
        (["--weights", "auto", "--text", "nowhere"], ["--text: 'nowhere' does not exist"]),
    ],
)
def test_weights_that_cannot_be_are_refused(tmp_path, asr, options, parts):
    systems = [results(tmp_path / name, REFERENCE) for name in ("one", "two")]
    check_one_sentence(asr("combine", *systems, "--out", tmp_path / "out", *options), *parts)


def test_one_system_words_for_weights_and_an_output_among_the_inputs_are_refused(tmp_path, asr):
    one, two = (results(tmp_path / name, REFERENCE) for name in ("one", "two"))
    assert asr("combine", one, "--out", tmp_path / "out")[0] == 2
    assert asr("combine", one, two, "--weights", "much", "--out", tmp_path / "out")[0] == 2
    check_one_sentence(asr("combine", one, two, "--out", two), "is one of the systems")
    with pytest.raises(ConfigError, match="1 directory to combine"):
        package.combine([one], tmp_path / "out")
    with pytest.raises(ConfigError, match=r"weights.*'best'"):
        package.combine([one, two], tmp_path / "out", weights="best")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("t=0.0000", "t=1e11", "Expected a time"),
        ("t=0.0000", "t=-1", "Expected a time"),
        ("S=0", "S=99", "does not lead to a higher node"),
        ("t=0.0000", "t=1e3", "leads back in time"),
        ("W=WISE", "W=", "W=''. Expected a word"),
    ],
)
def test_a_spoilt_lattice_is_refused(decoded, tmp_path, old, new, reason):
    spoilt = tmp_path / "spoilt"
    shutil.copytree(decoded, spoilt, ignore=shutil.ignore_patterns("confusions.tsv"))
    path = sorted((spoilt / "lattices").glob("*.lat"))[0]
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(GrammarError, match=reason):
        read_results(spoilt)


def test_an_end_reached_from_no_word_is_refused(decoded, tmp_path):
    path = tmp_path / "spoilt.lat"
    text = sorted((decoded / "lattices").glob("*.lat"))[0].read_text()
    end = text.split("end=")[1].split()[0]
    n_links = text.split("L=")[1].split()[0]
    path.write_text(
        text.replace(f"L={n_links}", f"L={int(n_links) + 1}") + f"J={n_links} S=-3 E={end} W=!NULL a=0 l=0\n"
    )
    with pytest.raises(GrammarError, match="node -3 leads to the end"):
        read_slf_lattice(path)
