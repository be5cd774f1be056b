"""The benchmark of decoding graphs runs and prints its figures as JSON."""

import json
import logging

import pytest

from benchmarks.decoding_graph.__main__ import main


@pytest.mark.slow
def test_sizes_and_speeds_of_both_graphs_are_printed(toy_model, toy_corpus, capsys):
    logging.disable()
    try:
        main(
            [
                *("--model", str(toy_model), "--data", str(toy_corpus / "test"), "--utterances", "2"),
                *("--grammar", "loop", "--beam", "50", "200", "--max-active", "0"),
            ]
        )
    finally:
        logging.disable(logging.NOTSET)
    *_, last = capsys.readouterr().out.splitlines()
    found = json.loads(last)["loop"]
    assert found["graphs"]["shared"]["arcs"] < found["graphs"]["unshared"]["arcs"]
    assert [row["beam"] for row in found["searches"]] == [50, 200]
    for row in found["searches"]:
        assert row["shared"]["errors"] == row["unshared"]["errors"]
        assert row["shared"]["seconds a second"] > 0
