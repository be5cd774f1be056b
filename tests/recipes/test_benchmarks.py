import json
from functools import partial

import numpy as np
import pytest

from asr.util.errors import ConfigError, RunError
from recipes.benchmarks.__main__ import TABLES, main
from recipes.benchmarks.published import PUBLISHED
from recipes.recipe import run_recipe
from tests.recipes.benchmark_sets import (
    save_adult,
    save_images,
    save_multi_class,
    save_regression,
    save_split,
    save_two_class,
)

COLUMNS = "table data method value sd sparsity seed_value fit_seconds predict_seconds".split()
SECONDS = {"fit_seconds", "predict_seconds", "choice_seconds"}


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """A folder laid out like the benchmark sets."""
    folder = tmp_path_factory.mktemp("sets")
    for name in TABLES["5.3"].data:
        save_two_class(folder / "ida" / f"{name}.npz")
    for name in TABLES["5.2"].data:
        (save_images if name == "usps" else save_multi_class)(folder / f"{name}.npz")
    save_split(folder / "ripley.npz")
    for name in TABLES["5.5"].data:
        save_regression(folder / f"{name}.npz")
    for file in TABLES["lssvm-uci"].file.values():
        if file.startswith("lssvm"):
            (save_adult if "adu" in file else save_two_class)(folder / file)
    return folder


def run(folder, work_dir, *arguments):
    main(["--data-dir", str(folder), "--work-dir", str(work_dir), "--quick", "--jobs", "1", *arguments])
    return json.loads((work_dir / "results.json").read_text())


def without_seconds(value):
    if isinstance(value, dict):
        return {key: without_seconds(entry) for key, entry in value.items() if key not in SECONDS}
    return [without_seconds(entry) for entry in value] if isinstance(value, list) else value


@pytest.mark.slow
def test_every_table_gives_one_row_for_each_data_set_and_method(sets, tmp_path, capsys):
    rows = run(sets, tmp_path)
    expected = [(t.number, data, method) for t in TABLES.values() for data in t.data for method in t.methods]
    assert [(row["table"], row["data"], row["method"]) for row in rows] == expected
    assert all(list(row) == COLUMNS for row in rows)
    for row in rows:
        figure = PUBLISHED.get((row["table"], row["data"], row["method"]))
        assert row["seed_value"] == (None if figure is None else figure.value)
        assert (row["sd"] is None) == (row["table"] in ("5.2", "usps-kfd"))
        assert (row["sparsity"] > 0) == (row["table"] != "uci-baselines")
        assert row["sparsity"] <= (900 if row["method"] == "svm-virtual" else 100)
    assert {row["sparsity"] for row in rows if row["method"] == "kfd"} == {100.0}

    settings = json.loads((tmp_path / "settings.json").read_text())["tables"]
    for row in rows:
        kept = settings[row["table"]][row["data"]]["methods"][row["method"]]
        assert np.mean(kept["values"]) == pytest.approx(row["value"])
        assert kept["chosen"].keys() >= kept["grid"].keys()

    page = (tmp_path / "tables.md").read_text()
    assert all(f"## Table {number}: {table.title}" in page for number, table in TABLES.items())
    assert "| source |" in page
    assert "of 13 sets" in page
    usps = next(line for line in page.splitlines() if line.startswith("| usps |")).split(" | ")
    assert usps[2] == "4.40 (9.7)"
    assert "Table 5.3: against the SVM" in capsys.readouterr().out


def test_method_option_keeps_the_rows_of_other_methods(sets, tmp_path):
    for methods in (["svm"], ["rvm"], ["rvm", "svm"]):
        rows = run(sets, tmp_path, "--table", "ksod", "--data", "heart", "--method", *methods)
    assert [row["method"] for row in rows] == ["svm", "rvm"]
    assert rows[1]["seed_value"] == 10.88
    kept = json.loads((tmp_path / "settings.json").read_text())["tables"]["ksod"]["heart"]["methods"]
    assert set(kept) == {"svm", "rvm"}
    with pytest.raises(ConfigError, match="--method tree"):
        run(sets, tmp_path, "--table", "ksod", "--method", "tree")


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes(sets, tmp_path):
    found = []
    for jobs in ("1", "2"):
        work_dir = tmp_path / jobs
        run(sets, work_dir, "--jobs", jobs, "--data", "heart", "sinc", "usps", "boston")
        found.append([json.loads((work_dir / name).read_text()) for name in ("results.json", "settings.json")])
    assert without_seconds(found[0]) == without_seconds(found[1])


@pytest.mark.slow
def test_a_single_table_joins_what_the_work_directory_holds(sets, tmp_path):
    run(sets, tmp_path, "--table", "5.4")
    run(sets, tmp_path, "--table", "5.3", "--data", "heart")
    run(sets, tmp_path, "--table", "5.3", "--data", "banana")
    rows = run(sets, tmp_path, "--table", "5.4", "--partitions", "1")
    assert [row["sd"] for row in rows if row["table"] == "5.4"] == [None] * len(TABLES["5.4"].methods)
    places = [(row["table"], row["data"]) for row in rows]
    held = [("5.3", "banana"), ("5.3", "heart"), ("5.4", "sinc")]
    assert places == [place for place in held for _ in TABLES[place[0]].methods]
    page = (tmp_path / "tables.md").read_text()
    assert all(text in page for text in ("| banana |", "| heart |", "| sinc |"))


def test_resuming_leaves_alone_what_the_work_directory_holds(sets, tmp_path, monkeypatch):
    before = run(sets, tmp_path, "--table", "ksod", "--data", "heart")
    rows = run(sets, tmp_path, "--table", "ksod", "--data", "heart", "thyroid", "--resume")
    assert [row for row in rows if row["data"] == "heart"] == before  # seconds and all
    assert [row["data"] for row in rows] == [name for name in ("thyroid", "heart") for _ in TABLES["ksod"].methods]
    settings = json.loads((tmp_path / "settings.json").read_text())["tables"]["ksod"]["heart"]["methods"]
    assert settings["ksod"]["chosen"] == settings["kfd"]["chosen"]


def test_quick_results_are_not_mixed_with_full_ones(sets, tmp_path):
    run(sets, tmp_path, "--table", "5.4")
    with pytest.raises(RunError, match="has results of --quick"):
        main(["--data-dir", str(sets), "--work-dir", str(tmp_path), "--table", "5.4"])


@pytest.mark.parametrize("text", ["[", "[1]", '[{"table": "5.3"}]', "[" * 100_000, "[NaN]", "[1e400]"])
def test_a_work_directory_of_something_else_is_refused(sets, tmp_path, text):
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(RunError, match=r"results\.json.*Use another work directory"):
        run(sets, tmp_path, "--table", "5.4")


def test_rows_without_their_settings_are_refused(sets, tmp_path):
    run(sets, tmp_path, "--table", "5.4")
    (tmp_path / "settings.json").unlink()
    with pytest.raises(RunError, match=r"sinc of table 5\.4 is missing"):
        run(sets, tmp_path, "--table", "5.4")


def test_results_that_were_edited_are_refused_before_anything_is_computed(sets, tmp_path):
    run(sets, tmp_path, "--table", "5.4")
    for name, old, new in (
        ("results.json", '"table": "5.4"', '"table": []'),
        ("results.json", '"data": "sinc"', '"data": {}'),
        ("results.json", '"method": "orols"', '"method": "magic"'),
        ("results.json", '"value": ', '"value": "x", "value2": '),
        ("settings.json", '"tables": {', '"tables": [], "x": {'),
        ("settings.json", '"chosen": {', '"chosen": 3, "x": {'),
    ):
        text = (tmp_path / name).read_text()
        assert old in text
        (tmp_path / name).write_text(text.replace(old, new, 1))
        with pytest.raises(RunError, match="Use another"):
            main(["--data-dir", str(sets), "--work-dir", str(tmp_path), "--table", "5.4", "--quick"])
        (tmp_path / name).write_text(text)


def test_missing_data_are_told_in_words_and_exit_with_1(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("recipes.recipe.supervise", lambda name, **options: None)  # it would fork the tests

    def message(*arguments):
        with pytest.raises(SystemExit) as stop:
            run_recipe(partial(main, ["--work-dir", str(tmp_path / "w"), *arguments]))
        assert stop.value.code == 1
        return capsys.readouterr().err

    assert f"error: --data-dir {tmp_path / 'no'} is not a folder" in message("--data-dir", str(tmp_path / "no"))
    error = message("--data-dir", str(tmp_path), "--table", "5.5")
    assert str(tmp_path / "boston.npz") in error
    assert str(tmp_path / "abalone.npz") in error
    assert not (tmp_path / "w").exists()


def test_an_unknown_data_set_is_told_with_those_that_there_are(sets, tmp_path):
    with pytest.raises(ConfigError, match=r"--data hart: .*heart"):
        run(sets, tmp_path, "--table", "5.3", "--data", "hart")


def test_every_printed_figure_has_its_place_in_a_table():
    for number, data, method in PUBLISHED:
        assert data in TABLES[number].data
        assert method in TABLES[number].methods
    assert PUBLISHED["5.3", "titanic", "svm"].kernels == 90


@pytest.mark.slow
def test_the_real_sets_run_through_quickly(ml_data, tmp_path):
    rows = run(ml_data, tmp_path, "--data", "heart", "titanic", "optdigits", "sinc", "boston", "abalone")
    values = {(row["data"], row["method"]): row["value"] for row in rows}
    assert values["heart", "orols"] < 30
    assert values["optdigits", "orols"] < 6
    assert values["sinc", "orols"] < 0.08
    assert values["boston", "npd"] < 40
