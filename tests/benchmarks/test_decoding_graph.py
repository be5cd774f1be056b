"""The benchmark of decoding graphs runs and prints its figures as JSON."""

import json

import pytest

from benchmarks.decoding_graph.__main__ import main


@pytest.mark.usefixtures("unlogged")
def test_sizes_and_speeds_of_both_graphs_are_printed(toy_model, toy_corpus, capsys):
    data = ["--model", str(toy_model), "--data", str(toy_corpus / "test"), "--utterances", "2"]
    main([*data, "--grammar", "loop", "--beam", "50", "200", "--max-active", "0"])
    *_, last = capsys.readouterr().out.splitlines()
    found = json.loads(last)["loop"]
    assert found["graphs"]["shared"]["arcs"] < found["graphs"]["unshared"]["arcs"]
    assert [row["beam"] for row in found["searches"]] == [50, 200]
    for row in found["searches"]:
        assert row["shared"]["errors"] == row["unshared"]["errors"]
        assert row["shared"]["seconds a second"] > 0
