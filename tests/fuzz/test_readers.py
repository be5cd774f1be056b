"""Every reader of the project, under what people and programs may write into its files."""

import os

import pytest

from tests.fuzz.test_fuzzer import fuzz

SECONDS = float(os.environ.get("FUZZ_SECONDS", "30"))
SEED = int(os.environ.get("FUZZ_SEED", "0"))


@pytest.mark.slow
def test_no_reader_falls_over_what_is_spoilt() -> None:
    done = fuzz("--seconds", SECONDS, "--seed", SEED)
    assert done.returncode == 0, done.stdout[-60_000:] + done.stderr[-4_000:]


@pytest.mark.slow
def test_whatever_once_failed_is_told_in_one_sentence_or_taken() -> None:
    done = fuzz("--regressions")
    assert done.returncode == 0, done.stdout[-60_000:] + done.stderr[-4_000:]
