"""The benchmark of single calls runs, tunes and prints its figures as JSON."""

import json
import logging

import pytest

from benchmarks.recognize_calls import main

SIZE = ["--calls", "5", "--seconds", "0.5"]


def shown(name: str, value: object) -> list[str]:
    return [f"--{name}", str(value)]


@pytest.mark.parametrize("options", [[], ["--tune"]])
def test_milliseconds_of_a_call_are_printed(options, toy_model, toy_corpus, tmp_path, capsys):
    logging.disable()
    try:
        main(
            [
                *shown("model", toy_model),
                *shown("data", toy_corpus / "test"),
                *shown("work-dir", tmp_path),
                *SIZE,
                *options,
            ]
        )
    finally:
        logging.disable(logging.NOTSET)
    *table, last = capsys.readouterr().out.splitlines()
    found = json.loads(last)
    assert set(found) == {"load", "first", "mean", "median", "95 %", "without search"}
    assert all(value > 0 for value in found.values())
    assert "5 calls of 0.5 s" in table[0]
