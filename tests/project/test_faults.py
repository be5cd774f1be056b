"""Want of memory and a full disk are told in one sentence, and never taken for a fault of an utterance."""

import errno
import os
from collections.abc import Callable

import numpy as np
import pytest
import soundfile
from joblib.externals.loky.process_executor import TerminatedWorkerError

from asr.util.error_messages import sentence_of
from asr.util.errors import CorpusError, Issue, LexiconError, RunError, attempt
from discriminants.util.errors import ModelFormatError
from recipes.recipe import run_recipe

REMEDY = ". Use more memory or fewer --jobs"
NO_MEMORY = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))


def numpy_s_own() -> Exception:
    try:
        np.empty(1 << 57)
    except MemoryError as error:
        return error
    raise AssertionError("so much memory")


def wrapped(outer: Exception, inner: Exception) -> Exception:
    try:
        try:
            raise inner
        except Exception as error:
            raise outer from error
    except Exception as error:
        return error


SHORTAGES: dict[str, Callable[[], Exception]] = {
    "memory": MemoryError,
    "numpy": numpy_s_own,
    "mapping a file": lambda: NO_MEMORY,
    "a thread": lambda: RuntimeError("can't start new thread"),
    "a worker": lambda: TerminatedWorkerError("A worker process managed by the executor was unexpectedly terminated."),
    "a module": lambda: ImportError("_x.so: failed to map segment from shared object"),
    "a library": lambda: OSError("cannot load library 'libsndfile.so': Cannot allocate memory"),
    "compiled modules": lambda: SystemError("error return without exception set"),
    "libsndfile": lambda: soundfile.LibsndfileError(17),
    "inside another": lambda: wrapped(CorpusError("a.wav: cannot be read as audio"), soundfile.LibsndfileError(17)),
    "while mapping": lambda: wrapped(RunError("frames.npy: cannot be read"), NO_MEMORY),
    "while handling it": lambda: wrapped(ZeroDivisionError(), MemoryError()),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SHORTAGES)
def test_want_of_memory_is_one_sentence(kind: str) -> None:
    sentence = sentence_of(SHORTAGES[kind]())
    assert sentence is not None
    assert sentence.startswith("out of memory: ")
    assert sentence.endswith(REMEDY)
    assert sentence.isprintable()


@pytest.mark.parametrize("kind", SHORTAGES)
def test_want_of_memory_never_costs_an_utterance(kind: str) -> None:
    error = SHORTAGES[kind]()

    def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        attempt(fail)


def test_a_fault_of_the_utterance_costs_the_utterance() -> None:
    def fail() -> None:
        raise CorpusError("a.wav: holds no samples.")

    assert attempt(fail) == Issue("unreadable", "a.wav: holds no samples.")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (LexiconError("lexicon.txt:3: no phones"), "lexicon.txt:3: no phones"),
        (ModelFormatError("a\x1b[2J"), "a\\x1b[2J"),
        (FileNotFoundError(errno.ENOENT, "No such file", "x\ny"), "x y: No such file"),
        (
            OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out/hyp.txt"),
            "out/hyp.txt: No space left on device. Free some space",
        ),
        (
            OSError(errno.EROFS, os.strerror(errno.EROFS), "out/hyp.txt"),
            "out/hyp.txt: Read-only file system. Use a writable folder",
        ),
        (ConnectionError("nobody answered"), "nobody answered"),
    ],
)
def test_what_the_user_can_mend_is_one_sentence(error: Exception, sentence: str) -> None:
    assert sentence_of(error) == sentence


@pytest.mark.parametrize("error", [ZeroDivisionError(), RuntimeError("inconsistent"), ValueError("cannot allocate")])
def test_a_fault_of_the_program_has_no_sentence(error: Exception) -> None:
    assert sentence_of(error) is None


@pytest.mark.parametrize("error", [MemoryError(), OSError(errno.ENOSPC, "No space left on device", "x")])
def test_a_recipe_tells_it_as_the_command_does(
    error: Exception, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recipes.recipe.supervise", lambda name, resumable: None)  # it would fork the tests

    def fail() -> None:
        raise error

    with pytest.raises(SystemExit) as stop:
        run_recipe(fail)
    assert stop.value.code == 1
    texts = capsys.readouterr().err
    assert texts.startswith("error: ")
    assert texts.count("\n") == 1
