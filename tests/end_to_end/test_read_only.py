"""Decoding where only the output directory can be written: not the program's, not the user's, perhaps no temporary."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
# Everything is read-only except the folders named before "--"; this is also true for root, so no other user is needed.
READ_ONLY = """
while [ "$1" != -- ]; do mount --bind "$1" "$1" || exit 77; shift; done
shift
mount -o remount,bind,ro / && ! touch "$HOME/.written" "$PROGRAM/.written" 2>/dev/null || exit 77
exec "$@"
"""


def run_read_only(writable: list[Path], arguments: list[object], **environment: str) -> tuple[int, str]:
    """Exit status and standard error of `asr`; skips where file systems cannot be mounted anew."""
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare (Linux)")
    apart = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    shell = ["sh", "-c", READ_ONLY, "sh", *map(str, writable), "--"]
    done = subprocess.run(
        [*apart, *shell, sys.executable, "-m", "asr.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PROGRAM": str(ROOT), "NUMBA_CACHE_DIR": ""} | environment,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"cannot make file systems read-only here: {done.stderr}")
    return done.returncode, done.stderr


@pytest.mark.parametrize("with_temporary", [True, False])
def test_decoding_needs_no_place_but_its_output(
    toy_corpus: Path, toy_model: Path, tmp_path: Path, with_temporary: bool
) -> None:
    out, temporary = tmp_path / "out", tmp_path / "temporary"
    out.mkdir()
    temporary.mkdir()
    # With one writable folder, the working directory must be another one, because it would be used for temporary files.
    arguments = ["decode", "--model", toy_model, "--data", toy_corpus / "test", "--jobs", "2", "--out", out]
    status, said = run_read_only([out, *([temporary] if with_temporary else [])], arguments, TMPDIR=str(temporary))
    assert status == 0, said
    assert "Traceback" not in said
    [complaint] = [line for line in said.splitlines() if "NUMBA_CACHE_DIR" in line]
    assert ("only for this run" if with_temporary else "every process compiles again") in complaint
    assert len((out / "hyp.txt").read_text().splitlines()) == 10
    assert not list(temporary.iterdir())
