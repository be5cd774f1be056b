"""The benchmark of a pass over sequences runs and prints its ratio."""

import json

from benchmarks.sequence_training import main


def test_a_pass_is_timed_beside_the_search(toy_model, toy_corpus, capsys):
    main(["--model", str(toy_model), "--data", str(toy_corpus / "train"), "--utterances", "5"])
    *table, last = capsys.readouterr().out.splitlines()
    found = json.loads(last)
    assert found["pass"] > 0
    assert found["ratio"] == found["pass"] / found["search"]
    assert "5 utterances" in table[0]
