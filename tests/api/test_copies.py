"""Recognizers that are pickled or copied, as pools of processes do with what they send."""

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from asr import Recognizer
from asr.grammar import word_loop
from asr.lexicon import Lexicon
from tests.fuzz import valid_models

RATE = 8000
MODELS = {
    "mixtures": valid_models.mixtures,
    "hybrid": lambda: valid_models.hybrid(GaussianNB()),
    "kernels": lambda: valid_models.hybrid(valid_models.HYBRIDS["kernel-logistic"]()),
    "two streams": valid_models.two_streams,
    "tied states": valid_models.tied_states,
    "mapped": valid_models.mapped,
    "warped": valid_models.warped,
}


def pickled(value):
    return pickle.loads(pickle.dumps(value))


def noise():
    return np.random.default_rng(0).normal(scale=0.1, size=RATE).astype(np.float32)


@pytest.mark.parametrize("copied", [pickled, copy.deepcopy, copy.copy])
@pytest.mark.parametrize("kind", MODELS)
def test_recognizer_copied_recognizes_the_same(kind, copied):
    recognizer = Recognizer(MODELS[kind](), confidence=True)
    expected = recognizer.recognize(noise(), RATE)
    assert copied(recognizer).recognize(noise(), RATE) == expected
    assert copied(Recognizer(recognizer.model, confidence=True)).recognize(noise(), RATE) == expected


def test_recognizer_copied_keeps_grammar_and_added_words():
    recognizer = Recognizer(valid_models.mixtures(), grammar=["ONE TWO", "TWO"])
    recognizer.add_word("THREE", "UW UW")
    other = pickled(recognizer)
    assert repr(other) == repr(recognizer)
    assert other.words == recognizer.words
    other.add_word("FOUR", "AH AH UW")
    assert "FOUR" not in recognizer.words


def test_recognizer_loaded_copy_needs_no_file(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(valid_models.model_bytes_of(valid_models.mixtures(), tmp_path))
    content = pickle.dumps(Recognizer.load(path))
    path.write_bytes(b"another file")
    assert pickle.loads(content).recognize(noise(), RATE).error is None


def test_grammar_copied_has_the_same_arcs():
    grammar = word_loop(["ONE", "TWO"])
    for other in (pickled(grammar), copy.deepcopy(grammar)):
        assert (other.name, other.words, other.left_out) == (grammar.name, grammar.words, grammar.left_out)
        assert (other.arcs, other.final_costs) == (grammar.arcs, grammar.final_costs)
        assert other.fst.is_ilabel_sorted


def test_lexicon_copied_is_equal_and_read_only():
    lexicon = Lexicon({"ONE": (("AH",),)}, "a file", silent=("SIL",))
    for other in (pickled(lexicon), copy.deepcopy(lexicon)):
        assert (other, other.source, other.silent) == (lexicon, lexicon.source, lexicon.silent)
        with pytest.raises(TypeError):
            other.pronunciations["TWO"] = ()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_recognizer_in_process_pool_recognizes_the_same(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"{method} is not available")
    recognizer = Recognizer(valid_models.mixtures())
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        found = pool.submit(recognizer.recognize, noise(), RATE).result()
    assert found == recognizer.recognize(noise(), RATE)
