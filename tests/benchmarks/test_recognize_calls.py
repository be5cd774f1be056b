"""The benchmark of single calls runs, tunes and prints its figures as JSON."""

import json

import pytest

from benchmarks.recognize_calls import main


@pytest.mark.usefixtures("unlogged")
@pytest.mark.parametrize("options", [[], ["--tune"]])
def test_milliseconds_of_a_call_are_printed(options, toy_model, toy_corpus, tmp_path, capsys):
    given = ["--model", toy_model, "--data", toy_corpus / "test", "--work-dir", tmp_path, "--calls", 5]
    main([*map(str, given), "--seconds", "0.5", *options])
    *table, last = capsys.readouterr().out.splitlines()
    found = json.loads(last)
    assert set(found) == {"load", "first", "mean", "median", "95 %", "without search"}
    assert all(value > 0 for value in found.values())
    assert "5 calls of 0.5 s" in table[0]
