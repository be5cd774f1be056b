import logging
import re
import subprocess
import sys

import pytest

import asr.runs.progress as module
from asr.runs.progress import progress


@pytest.fixture(autouse=True)
def log(caplog):
    caplog.set_level(logging.DEBUG, logger="asr")
    return caplog


def test_every_item_passes_through_and_one_line_is_logged(log, capsys):
    assert list(progress(["a", "b", "c"], "aligning utterances")) == ["a", "b", "c"]
    assert len(log.messages) == 1
    assert log.messages[0].startswith("aligning utterances: 3 in ")
    assert capsys.readouterr().err == ""


def test_a_count_is_advanced_by_hand(log):
    with progress(10, "extracting features") as counter:
        counter.advance()
        counter.advance(4)
    assert counter.done == 5
    assert counter.total == 10
    assert log.messages[0].startswith("extracting features: 5 in ")


def test_work_that_fails_says_how_far_it_came(log):
    with pytest.raises(ValueError, match="stop"):
        for item in progress(range(5), "fitting"):
            if item == 2:
                raise ValueError("stop")
    assert [message.partition(" in ")[0] for message in log.messages] == ["fitting: stopped after 2 of 5"]


def test_an_iterator_without_length_is_followed_too():
    work = progress((n for n in range(3)), "reading")
    assert work.total is None
    assert list(work) == [0, 1, 2]


@pytest.fixture
def terminal(monkeypatch):
    """A terminal that shows bars at once."""
    monkeypatch.setattr(module, "_on_terminal", lambda: True)
    monkeypatch.setattr(module, "_PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")  # a dumb one shows none
    monkeypatch.setenv("COLUMNS", "100")


def test_a_terminal_shows_a_bar_once_the_work_takes_long(terminal, capsys):
    list(progress(range(3), "decoding"))
    shown = capsys.readouterr()
    assert "decoding" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_long_description_leaves_the_figures_in_sight(terminal, monkeypatch, capsys, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    with progress(1234, "tuning-5-hybrid-sequences: utterances and copies, passes together") as counter:
        for _ in range(3):
            counter.advance()
            counter._bar.refresh()
    lines = [re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", line) for line in re.split(r"[\r\n]", capsys.readouterr().err)]
    full = [line for line in lines if "/1234" in line]
    assert full
    assert all("tuning-5" in line and line.rstrip().endswith("left") for line in full)
    assert all(len(line) <= columns for line in full)


def test_a_terminal_shows_nothing_for_short_work(monkeypatch, capsys):
    monkeypatch.setattr(module, "_on_terminal", lambda: True)
    list(progress(range(3), "decoding"))
    assert capsys.readouterr().err == ""


def test_a_log_of_continuous_integration_is_no_terminal(monkeypatch):
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr("os.isatty", lambda descriptor: True)
    assert not module._on_terminal()
    monkeypatch.delenv("CI")
    assert module._on_terminal()


def test_rich_is_not_loaded_before_a_bar_is_shown():
    program = (
        "import sys; from asr.runs.progress import progress; list(progress(range(3), 'x')); "
        "assert not any(name.partition('.')[0] == 'rich' for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
