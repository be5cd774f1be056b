"""A lexicon as Kaldi's are: what training never heard is told, and is recognized only if the user says so."""

import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from asr import Recognizer
from asr.acoustic.model_file import load_model
from asr.cli import main
from asr.scoring.files import read_transcripts
from asr.util.errors import GrammarError

pytestmark = pytest.mark.slow  # the training of a model

Asr = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def trained(tiny_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A model of a lexicon with silence, marks and a word of a phone that nobody says, and what training logged."""
    folder = tmp_path_factory.mktemp("kaldi")
    lexicon = folder / "lexicon.txt"
    lines = (tiny_corpus / "lexicon.txt").read_text()
    lexicon.write_text(f"<SIL> SIL\n!SIL SIL\n<SPOKEN_NOISE> SPN\n<UNK> SPN\nZOO Z UW\n<NO> N UW\n{lines}")
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    logging.getLogger("asr").setLevel(logging.INFO)
    try:
        with pytest.raises(SystemExit) as stop:
            main([
                "train", "--data", str(tiny_corpus / "train"), "--lexicon", str(lexicon), "--jobs", "1",
                "--config", str(tiny_corpus / "settings.toml"), "--work-dir", str(folder / "run"),
            ])  # fmt: skip
    finally:
        logging.getLogger().removeHandler(handler)
        logging.getLogger("asr").setLevel(logging.NOTSET)
    assert stop.value.code == 0
    return folder / "run" / "model.safetensors", messages


def test_training_says_once_before_and_once_after_what_it_never_hears(trained: tuple[Path, list[str]]) -> None:
    model, messages = trained
    before = [line for line in messages if "[unheard-phone]" in line]
    assert len(before) == 2
    assert "SPN" in before[0] + before[1] and "(ZOO)" in before[0] + before[1]
    page = (model.parent / "report.html").read_text(encoding="utf-8")
    assert "9 words, 4 of them not in the training transcripts; 1 word (ZOO) cannot be recognized" in page
    assert load_model(model).untrained == ("SPN", "Z")
    assert load_model(model.with_name("gmm.safetensors")).untrained == ("SPN", "Z")


def test_words_never_heard_are_recognized_only_if_the_user_says_so(
    asr: Asr, tiny_corpus: Path, trained: tuple[Path, list[str]], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    grammar = tmp_path / "sentences.txt"
    grammar.write_text("ZOO\n<UNK>\n<NO>\nNO\n")
    arguments = ["decode", "--model", trained[0], "--data", tiny_corpus / "test", "--grammar", grammar]
    assert asr(*arguments, "--out", tmp_path / "plain")[0] == 0
    assert set(read_transcripts(tmp_path / "plain" / "hyp.txt").values()) == {("NO",)}
    (line,) = [message for message in caplog.messages if "words that cannot be recognized" in message]
    assert "ZOO (1 word), because of the untrained phones SPN Z" in line
    assert "<NO>" in line and "<UNK>" in line and "--allow-oov-phones" in line
    caplog.clear()
    grammar.write_text("NO\n")
    assert asr(*arguments, "--out", tmp_path / "without")[0] == 0
    assert not [message for message in caplog.messages if "words that cannot be recognized" in message]
    grammar.write_text("ZOO\n<UNK>\n")
    status, _, err = asr(*arguments, "--out", tmp_path / "none")
    assert status == 1
    assert "ZOO" in err
    assert asr(*arguments, "--out", tmp_path / "all", "--allow-oov-phones")[0] == 0
    assert not [message for message in caplog.messages if "--allow-oov-phones" in message and "left out" in message][1:]


def test_from_python_words_never_heard_are_told_where_a_grammar_has_them(
    trained: tuple[Path, list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    recognizer = Recognizer.load(trained[0])
    caplog.clear()
    recognizer.with_grammar(["NO"])
    assert not caplog.messages
    with pytest.raises(GrammarError, match="no pronunciation for ZOO"):
        recognizer.with_grammar(["NO", "ZOO"])
    (line,) = caplog.messages
    assert "ZOO (1 word), because of the untrained phones SPN Z" in line and "<UNK>" not in line


def test_align_reads_a_lexicon_as_the_model_s_phones_are(
    asr: Asr, toy_corpus: Path, toy_model: Path, tmp_path: Path
) -> None:
    lexicon = tmp_path / "lexicon.txt"
    stressed = {"AH": "AH1", "IY": "IY0", "UW": "UW2"}
    words = [line.split() for line in (toy_corpus / "lexicon.txt").read_text().splitlines()]
    lexicon.write_text("".join(" ".join([w, *(stressed.get(p, p) for p in phones)]) + "\n" for w, *phones in words))
    shutil.copytree(toy_corpus / "test", tmp_path / "test")
    common = ["align", "--model", toy_model, "--data", toy_corpus / "test"]
    assert asr(*common, "--out", tmp_path / "own")[0] == 0
    assert asr(*common, "--out", tmp_path / "given", "--lexicon", lexicon)[0] == 0
    assert (tmp_path / "own" / "phones.ctm").read_bytes() == (tmp_path / "given" / "phones.ctm").read_bytes()
