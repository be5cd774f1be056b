import json

import pytest

from asr.scoring.wer import score_utterances
from asr.util.errors import RunError
from recipes.results import COLUMNS, print_table, result_row, write_results


def make_row(**changes):
    report = score_utterances({"a": ["ONE", "TWO"], "b": ["SIX"]}, {"a": ["ONE", "SIX"], "b": ["SIX", "SIX"]})
    row = result_row(
        report, system="orols", kind="discriminant", unit="mono", primary=True, grammar="loop", split="test",
        decode_rtf=0.012, train_seconds=31.0, frame_accuracy=61.5,
    )  # fmt: skip
    return row | changes


def test_rows_are_written_as_a_json_list_with_exactly_the_agreed_keys(tmp_path):
    write_results(tmp_path / "results.json", [make_row(), make_row(system="gmm-8", kind="gmm", primary=False)])
    rows = json.loads((tmp_path / "results.json").read_text())
    keys = "system kind unit primary grammar split wer ser words errors sub del ins decode_rtf train_seconds"
    assert [list(row) for row in rows] == [[*keys.split(), "frame_accuracy"]] * 2
    assert rows[0]["wer"] == pytest.approx(200 / 3)
    assert [rows[0][key] for key in ("words", "errors", "sub", "del", "ins")] == [3, 2, 1, 0, 1]
    assert rows[0]["ser"] == 100.0
    assert rows[0]["primary"] is True


def test_one_system_is_primary_in_every_grammar(tmp_path):
    rows = [make_row(grammar="loop"), make_row(grammar="bigram"), make_row(split="other", system="npd")]
    write_results(tmp_path / "results.json", rows)
    assert len(json.loads((tmp_path / "results.json").read_text())) == 3


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([make_row(extra=1)], "extra"),
        ([{key: value for key, value in make_row().items() if key != "ser"}], "missing or unknown: ser"),
        ([make_row(wer=float("nan"))], "wer is nan"),
        ([make_row(), make_row()], "duplicate row"),
        ([make_row(kind="gmm")], "Expected 'discriminant'"),
        ([make_row(), make_row(system="npd")], "npd, orols"),
        ([make_row(), make_row(system="npd", grammar="bigram")], "same for each grammar"),
    ],
)
def test_rows_that_break_the_agreement_are_refused_and_nothing_is_written(tmp_path, rows, reason):
    with pytest.raises(RunError, match=reason):
        write_results(tmp_path / "results.json", rows)
    assert not list(tmp_path.iterdir())


def test_the_table_shows_every_row_uncut(capsys):
    print_table([make_row(system="a-system-with-a-rather-long-name"), make_row(system="gmm-8", primary=False)])
    printed = capsys.readouterr().out
    assert "a-system-with-a-rather-long-name *" in printed
    assert "66.67" in printed
    assert "* primary" in printed
    assert "…" not in printed


def test_the_columns_are_those_of_a_row():
    assert tuple(make_row()) == COLUMNS
