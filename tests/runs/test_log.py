"""The log on the screen and in `train.log`."""

import logging

from asr.runs.log import LOG, training_log, write_log

log = logging.getLogger("asr.runs.test_log")


def test_train_log_has_details_and_earlier_records(tmp_path):
    level = logging.getLogger("asr").level
    with training_log():
        log.debug("before the directory exists")
        write_log(tmp_path)
        write_log(tmp_path)
        log.debug("a detail")
    log.warning("after the command")
    lines = (tmp_path / LOG).read_text().splitlines()
    assert [line.split(" ", 2)[2] for line in lines] == ["before the directory exists", "a detail"]
    assert logging.getLogger("asr").level == level


def test_screen_shows_details_only_if_verbose(capsys, monkeypatch):
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    for verbose in (False, True):
        with training_log(verbose=verbose):
            log.debug("a detail")
            log.info("a stage")
        assert ("a detail" in capsys.readouterr().err) == verbose
        assert not logging.getLogger().handlers


def test_without_a_training_log_no_file_is_written(tmp_path):
    write_log(tmp_path)
    assert not (tmp_path / LOG).exists()
