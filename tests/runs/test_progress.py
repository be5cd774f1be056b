import logging
import re
import subprocess
import sys

import pytest

import asr.runs.progress as module
from asr.runs.progress import Progress


@pytest.fixture(autouse=True)
def log(caplog):
    caplog.set_level(logging.DEBUG, logger="asr")
    return caplog


def test_a_count_is_advanced_by_hand(log):
    with Progress(10, "extracting features") as counter:
        counter.advance()
        counter.advance(4)
    assert counter.done == 5
    assert counter.total == 10
    assert log.messages[0].startswith("extracting features: 5 in ")


def test_work_that_fails_says_how_far_it_came(log):
    with pytest.raises(ValueError, match="stop"), Progress(5, "fitting") as counter:
        counter.advance(2)
        raise ValueError("stop")
    assert [message.partition(" in ")[0] for message in log.messages] == ["fitting: stopped after 2 of 5"]


@pytest.fixture
def terminal(monkeypatch):
    """A terminal that shows bars at once."""
    monkeypatch.setattr(module, "_on_terminal", lambda: True)
    monkeypatch.setattr(module, "_PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")  # a dumb terminal shows no bar
    monkeypatch.setenv("COLUMNS", "100")


def test_a_terminal_shows_a_bar_once_the_work_takes_long(terminal, capsys):
    with Progress(3, "decoding") as counter:
        counter.advance()
    shown = capsys.readouterr()
    assert "decoding" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_long_description_leaves_the_figures_in_sight(terminal, monkeypatch, capsys, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    with Progress(1234, "tuning-5-hybrid-sequences: utterances and copies, passes together") as counter:
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
    with Progress(3, "decoding") as counter:
        counter.advance()
    assert capsys.readouterr().err == ""


def test_a_log_of_continuous_integration_is_no_terminal(monkeypatch):
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr("os.isatty", lambda descriptor: True)
    assert not module._on_terminal()
    monkeypatch.delenv("CI")
    assert module._on_terminal()


def test_rich_is_not_loaded_before_a_bar_is_shown():
    program = (
        "import sys; from asr.runs.progress import counted\nwith counted(3, 'x') as finished: finished(3)\n"
        "assert not any(name.partition('.')[0] == 'rich' for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
