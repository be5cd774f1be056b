import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from asr.runs.checked_file import read_sealed, write_sealed
from asr.runs.run import Run
from asr.util.errors import RunError

CONFIGURATION = {"features": {"n_filters": 26}}
SETTINGS = {"command": ["asr", "train"], "configuration": CONFIGURATION, "inputs": {"train": "abc"}}


def open_run(directory, **changes):
    return Run.open(directory, **(SETTINGS | changes))


def write_one(target):
    (target / "one.txt").write_text("1")


def test_a_new_run_records_command_versions_seed_configuration_and_inputs(tmp_path):
    with open_run(tmp_path / "run", seed=7):
        record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["command"] == ["asr", "train"]
    assert record["seed"] == 7
    assert record["configuration"] == {"features": {"n_filters": 26}}
    assert record["inputs"] == {"train": "abc"}
    assert record["versions"].keys() == {"asr", "python", "numpy", "scipy", "scikit-learn", "numba"}


def test_equal_runs_have_equal_records(tmp_path):
    for name in ("a", "b"):
        open_run(tmp_path / name).close()
    assert (tmp_path / "a" / "run.json").read_bytes() == (tmp_path / "b" / "run.json").read_bytes()


def test_a_stage_is_built_once(tmp_path, caplog):
    built = []

    def build(target):
        built.append(target)
        write_one(target)

    caplog.set_level(logging.DEBUG, logger="asr")
    for _ in range(2):
        with open_run(tmp_path) as run:
            path = run.stage("features", build)
            assert path == tmp_path / "stages" / "features"
            assert (path / "one.txt").read_text() == "1"
    assert len(built) == 1
    assert "stage features: already done, skipped" in caplog.messages


def test_a_stage_that_fails_stays_absent(tmp_path):
    def fail(target):
        write_one(target)
        raise ValueError("half-way")

    with open_run(tmp_path) as run:
        with pytest.raises(ValueError, match="half-way"):
            run.stage("features", fail)
        assert not run.is_done("features")
        assert not list((tmp_path / "stages").iterdir())


def test_what_a_killed_process_left_is_removed(tmp_path):
    open_run(tmp_path).close()
    partial = tmp_path / "stages" / ".features.partial-1"
    partial.mkdir(parents=True)
    write_one(partial)
    (tmp_path / ".run.json.partial-1").write_text("{")
    open_run(tmp_path).close()
    assert not partial.exists()
    assert not (tmp_path / ".run.json.partial-1").exists()


def test_the_time_of_a_stage_is_kept_beside_it(tmp_path):
    with open_run(tmp_path) as run:
        run.stage("features", write_one)
    with open_run(tmp_path) as run:
        taken = run.stage_time("features")
        assert taken.wall >= 0.0
        assert taken.cpu >= 0.0
        assert [path.name for path in (tmp_path / "stages" / "features").iterdir()] == ["one.txt"]
        with pytest.raises(RunError, match="not finished"):
            run.stage_time("gmm")


def test_what_a_stage_notes_of_its_time_is_kept_beside_it_too(tmp_path):
    def build(target):
        run.stage("inner", write_one)
        run.note_time("half", 1.5)

    with open_run(tmp_path) as run:
        run.note_time("nothing", 1.0)
        run.stage("outer", build)
    with open_run(tmp_path) as run:
        assert run.stage_time("outer").parts == {"half": 1.5}
        assert run.stage_time("inner").parts == {}


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"configuration": {"features": {"n_filters": 40}}}, "features.n_filters was 26, is 40"),
        ({"configuration": {"features": {}}}, "configuration.features.n_filters was 26, is absent"),
        ({"configuration": SETTINGS["configuration"] | {"jobs": 2}}, "configuration.jobs was absent, is 2"),
        ({"inputs": {"train": "xyz"}}, "the input 'train' has changed"),
        ({"seed": 1}, "seed was 0, is 1"),
    ],
)
def test_a_changed_run_is_refused_with_the_difference(tmp_path, changes, difference):
    open_run(tmp_path).close()
    with pytest.raises(RunError) as caught:
        open_run(tmp_path, **changes)
    assert f"{difference})" in str(caught.value)


def test_a_changed_input_is_told_by_the_file_that_changed(tmp_path):
    files = {role: tmp_path / role for role in ("lexicon", "text", "spk2gender")}
    for path in files.values():
        path.write_text("a\nb\n")
    open_run(tmp_path / "run", files=files).close()
    files["text"].write_text("a\nc\n")
    open_run(tmp_path / "run", files=files).close()  # the input has not changed, only the file

    def texts(digest: str) -> str:
        with pytest.raises(RunError) as caught:
            open_run(tmp_path / "run", inputs={"train": digest}, files=files)
        assert digest not in str(caught.value)
        assert "--rebuild-changed" in str(caught.value)
        return str(caught.value).partition("other inputs (")[2]

    assert texts("qrs").startswith(f"{files['text']} has changed (2 lines, as before))")
    files["lexicon"].write_text("a\n")
    files["spk2gender"].unlink()
    files["text"].write_text("a\nb\n")
    (tmp_path / "mine").write_text("x\n")
    gone = f"{files['spk2gender']} is missing"
    assert texts("qrs").startswith(f"{files['lexicon']} has changed (1 line, 2 before); {gone})")
    files["lexicon"] = tmp_path / "mine"
    assert f"{tmp_path}/mine (1 line) instead of {tmp_path}/lexicon (2 lines); {gone}" in texts("qrs")
    for path in (tmp_path / "lexicon", files["spk2gender"]):
        path.write_text("a\nb\n")
    files["lexicon"] = tmp_path / "lexicon"
    assert texts("qrs").startswith("the input 'train' has changed: files in its lists")


def test_a_refused_run_keeps_its_stages_and_its_record(tmp_path):
    with open_run(tmp_path) as run:
        run.stage("features", write_one)
    record = (tmp_path / "run.json").read_bytes()
    with pytest.raises(RunError, match=r"deletes .* \(features\)"):
        open_run(tmp_path, seed=1)
    with open_run(tmp_path) as run:
        assert run.is_done("features")
    assert (tmp_path / "run.json").read_bytes() == record


def test_an_allowed_change_throws_the_stages_away_and_says_so(tmp_path, caplog):
    with open_run(tmp_path) as run:
        run.stage("features", write_one)
        run.stage("gmm", write_one)
    with open_run(tmp_path, seed=1, rebuild_changed=True) as run:
        assert not run.is_done("features")
    assert "seed was 0, is 1; deleted stages: features, gmm" in caplog.text
    assert {path.name for path in tmp_path.iterdir()} == {"run.json", ".lock", "stages"}
    assert not any((tmp_path / "stages").iterdir())
    with open_run(tmp_path, seed=1):
        pass


def test_an_allowed_change_keeps_the_stages_that_do_not_depend_on_it(tmp_path, caplog):
    asked = []

    def depends(stage, name):
        asked.append(name)
        return stage != "features" and name in ("gmm.mixtures", "lexicon")

    before = {"configuration": {"gmm": {"mixtures": 1}}, "inputs": {"lexicon": "abc"}, "depends": depends}
    with open_run(tmp_path, **before) as run:
        for name in ("features", "gmm"):
            run.stage(name, write_one)
        run.checkpoint("hybrid").mkdir()
    gmm = {"configuration": {"gmm": {"mixtures": 2}}}
    with pytest.raises(RunError, match=r"deletes .* \(gmm\)"):
        open_run(tmp_path, **(before | gmm))
    with open_run(tmp_path, **(before | gmm), rebuild_changed=True) as run:
        assert run.done_stages() == ["features"]
        assert run.stage("features", lambda _: pytest.fail("built again")).is_dir()
        assert run.stage_time("features").wall >= 0.0
        assert {path.name for path in (tmp_path / "stages").iterdir()} == {
            "features", "features.seconds", "features.digests"
        }  # fmt: skip
        run.stage("gmm", write_one)
    assert "gmm.mixtures was 1, is 2; deleted stages: gmm; kept: features" in caplog.text
    with open_run(tmp_path, **(before | gmm | {"inputs": {"lexicon": "xyz"}}), rebuild_changed=True) as run:
        assert run.done_stages() == ["features"]
    with open_run(tmp_path, **before, seed=1, rebuild_changed=True) as run:
        assert run.done_stages() == ["features"]
    assert set(asked) == {"gmm.mixtures", "lexicon", "seed"}


@pytest.mark.parametrize("options", [{"rebuild_changed": True}, {"command": ["asr", "train", "--jobs", "2"]}])
def test_unchanged_run_keeps_its_stages(tmp_path, options):
    with open_run(tmp_path) as run:
        run.stage("features", write_one)
    with open_run(tmp_path, **options) as run:
        assert run.is_done("features")


def test_another_version_resumes_a_run_with_a_warning(tmp_path, caplog, monkeypatch):
    open_run(tmp_path).close()
    monkeypatch.setattr("asr.__version__", "99.0")
    open_run(tmp_path).close()
    assert 'is "99.0"' in caplog.text


def test_tuples_and_lists_of_a_configuration_are_the_same(tmp_path):
    open_run(tmp_path, configuration={"mixtures": (1, 2)}).close()
    open_run(tmp_path, configuration={"mixtures": [1, 2]}).close()


def test_a_configuration_that_json_cannot_hold_is_refused(tmp_path):
    with pytest.raises(RunError, match="JSON"):
        open_run(tmp_path, configuration={"path": Path("x")})
    assert not list(tmp_path.iterdir())


def test_a_directory_of_other_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(RunError, match=r"has 'thesis\.tex'"):
        open_run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_in_place_of_the_directory_is_refused(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(RunError, match="is a file"):
        open_run(tmp_path / "run")
    with pytest.raises(RunError, match="cannot be used"):
        open_run(tmp_path / "run" / "inner")


def test_a_broken_record_is_refused(tmp_path):
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(RunError, match=r"run\.json: cannot be read"):
        open_run(tmp_path)
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(RunError, match=r"run\.json: has a JSON list"):
        open_run(tmp_path)


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "..", "gmm.seconds", "a b"])
def test_a_name_that_could_leave_the_run_is_no_stage(tmp_path, name):
    with open_run(tmp_path) as run, pytest.raises(RunError, match="not a stage name"):
        run.stage(name, write_one)


def test_two_runs_cannot_share_a_directory(tmp_path):
    with open_run(tmp_path), pytest.raises(RunError, match="another process"):
        open_run(tmp_path)
    open_run(tmp_path).close()


def test_the_lock_goes_with_the_process_that_held_it(tmp_path):
    program = (
        "import sys, time; from asr.runs.run import Run\n"
        "run = Run.open(sys.argv[1], command=[], configuration={}, inputs={})\n"
        "print('locked', flush=True); time.sleep(60)"
    )
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"locked\n"
        with pytest.raises(RunError, match=f"another process \\({process.pid}\\)"):
            open_run(tmp_path)
        process.kill()
    open_run(tmp_path, configuration={}, inputs={}).close()


def test_a_checkpoint_outlives_the_process_but_not_its_stage(tmp_path):
    def interrupted(target):
        run.checkpoint("hybrid").mkdir()
        write_one(run.checkpoint("hybrid"))
        (run.checkpoint("hybrid") / ".one.txt.partial-7").touch()
        raise KeyboardInterrupt

    def resumed(target):
        seen.extend(path.name for path in run.checkpoint("hybrid").iterdir())
        write_one(target)

    seen: list[str] = []
    with open_run(tmp_path) as run, pytest.raises(KeyboardInterrupt):
        run.stage("hybrid", interrupted)
    with open_run(tmp_path) as run:
        assert not run.is_done("hybrid")
        run.stage("hybrid", resumed)
    assert seen == ["one.txt"]
    assert [path.name for path in (tmp_path / "stages").iterdir() if path.is_dir()] == ["hybrid"]


def test_a_checkpoint_of_a_stage_that_is_whole_is_removed(tmp_path):
    with open_run(tmp_path) as run:
        run.stage("hybrid", write_one)
        run.checkpoint("hybrid").mkdir()  # as after a kill between the renaming of the stage and this removal
    open_run(tmp_path).close()
    assert not run.checkpoint("hybrid").exists()


def test_allowing_changes_throws_checkpoints_away(tmp_path):
    with open_run(tmp_path) as run:
        run.checkpoint("hybrid").mkdir(parents=True)
    with open_run(tmp_path, seed=1, rebuild_changed=True) as run:
        assert not run.checkpoint("hybrid").exists()


@pytest.mark.parametrize("files", [[], {"lexicon": 1}, {"lexicon": {"path": "x", "lines": "3", "sha256": "y"}}])
@pytest.mark.parametrize("inputs", [[], {}, None])
def test_record_with_inputs_of_another_form_is_refused(tmp_path, inputs, files):
    lexicon = tmp_path / "lexicon.txt"
    lexicon.write_text("a A\n")
    given = {"command": ["asr"], "configuration": {}, "inputs": {"lexicon": "1"}, "files": {"lexicon": lexicon}}
    Run.open(tmp_path / "run", **given).close()
    record = read_sealed(tmp_path / "run" / "run.json", "a record", "")
    write_sealed(tmp_path / "run" / "run.json", record | {"inputs": inputs, "files": files})
    with pytest.raises(RunError, match="other inputs"):
        Run.open(tmp_path / "run", **given)


def test_run_lock_that_is_a_link_raises(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    directory = tmp_path / "run"
    directory.mkdir()
    (directory / ".lock").symlink_to(victim)
    with pytest.raises(RunError, match=r"\.lock.*link"):
        open_run(directory)
    assert victim.read_text() == "precious"


def test_run_lock_that_is_a_pipe_raises(tmp_path):
    os.mkfifo(tmp_path / ".lock")
    with pytest.raises(RunError, match=r"\.lock"):
        open_run(tmp_path)


def test_run_stages_that_are_a_link_raise_and_stay(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.txt").write_text("precious")
    with open_run(tmp_path / "run"):
        pass
    (tmp_path / "run" / "stages").symlink_to(elsewhere)
    with pytest.raises(RunError, match=r"stages.*link"):
        open_run(tmp_path / "run", seed=1, rebuild_changed=True)
    assert (elsewhere / "mine.txt").read_text() == "precious"


def test_run_record_that_is_a_pipe_raises(tmp_path):
    os.mkfifo(tmp_path / "run.json")
    with pytest.raises(RunError, match=r"run\.json.*regular file"):
        open_run(tmp_path)
