"""A recognizer written to a file and read again is the same recognizer."""

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from asr.acoustic.composite import hybrid_stream
from asr.acoustic.gmm import GaussianMixtures
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.model_file import SearchSettings, SpeechModel, describe_model, load_model, save_model
from asr.acoustic.model_metadata import Provenance
from asr.acoustic.phone_hmm import PhoneHmm
from asr.alignment.pause_model import PauseSounds
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.features.speaker_background import fit_mixture
from asr.hmm.topology import uniform_self_loops
from asr.lexicon import Lexicon
from asr.util.errors import DecodeError, ModelFormatError
from discriminants.kernels import PolynomialKernel
from discriminants.serialization.model_file import load_arrays, save_arrays
from discriminants.sparse.npd import NPDClassifier
from discriminants.sparse.orols import OROLSClassifier
from discriminants.sparse.sparse_logistic import SparseKernelLogisticClassifier
from tests.fuzz.valid_models import CONFIG, TOPOLOGY, hybrid, knowing_pauses, training, two_streams

ARPA = "\\data\\\nngram 1=4\n\n\\1-grams:\n-99 <s>\n-1 </s>\n-1 BA\n-1 äh\n\n\\end\\\n"
LEXICON = Lexicon({"äh": (("AH",), ("AH", "UW")), "BA": (("UW", "AH"),)}, probabilities={("äh", ("AH", "UW")): 0.1})

CLASSIFIERS: dict[str, Callable[[], object]] = {
    "kernel-logistic": lambda: SparseKernelLogisticClassifier(20, n_candidates=50, max_iter=2, random_state=0),
    "orols": lambda: OROLSClassifier(20, random_state=0),
    "npd": lambda: NPDClassifier(20, random_state=0),
    "orols, multinomial posteriors": lambda: OROLSClassifier(20, posterior="multinomial", random_state=0),
    "mlp": lambda: MLPClassifier((8,), max_iter=2000, tol=1e-2, random_state=0),
    "logistic regression": lambda: LogisticRegression(),
    "naive Bayes": lambda: GaussianNB(),
    "ridge, calibrated": lambda: RidgeClassifier(),
    "support vectors, calibrated": lambda: SVC(),
    "pipeline": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
}


def mixtures() -> SpeechModel:
    static, _ = training()
    front_end = FrontEnd(FeatureConfig(normalize="utterance")).fit(static)
    generator = np.random.default_rng(1)
    shape = (TOPOLOGY.n_states, 2)
    acoustic = GaussianMixtures(
        np.log(np.full(shape, 0.5)), generator.normal(size=(*shape, 15)), generator.uniform(0.5, 2, (*shape, 15))
    )
    hmm = PhoneHmm(TOPOLOGY, acoustic, uniform_self_loops(TOPOLOGY))
    return SpeechModel(hmm, front_end, LEXICON, SearchSettings(), "archive")


def test_pause_sounds_come_back_and_must_fit_the_frames(tmp_path: Path) -> None:
    model = knowing_pauses()
    frames = model.front_end.transform(training()[0]).frames
    save_model(tmp_path / "model", model)
    again = load_model(tmp_path / "model").hmm
    assert again.pauses is not None
    np.testing.assert_array_equal(again.pauses.of_recording(frames), model.hmm.pauses.of_recording(frames))
    np.testing.assert_array_equal(again.log_likelihood(frames), model.hmm.log_likelihood(frames))
    narrow = PauseSounds(fit_mixture(frames[:, :3], 1, 0.01), fit_mixture(frames[:, :3], 1, 0.01), np.ones(3))
    save_model(tmp_path / "other", replace(model, hmm=replace(model.hmm, pauses=narrow)))
    with pytest.raises(ModelFormatError, match=r"pauses\.pause\.means .* float64 of shape \(1, 10\)"):
        load_model(tmp_path / "other")


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_hybrid_read_again_gives_equal_scores(tmp_path: Path, name: str) -> None:
    model = replace(hybrid(CLASSIFIERS[name]()), lexicon=LEXICON, arpa=ARPA)
    save_model(tmp_path / "model", model)
    again = load_model(tmp_path / "model")
    static, _ = training()
    frames = model.front_end.transform(static).frames
    np.testing.assert_array_equal(again.front_end.transform(static).frames, frames)
    np.testing.assert_array_equal(again.hmm.log_likelihood(frames), model.hmm.log_likelihood(frames))
    assert (again.kind, again.source, again.arpa) == ("hybrid", "audio", ARPA)
    assert (again.lexicon, again.search, again.hmm.topology) == (LEXICON, model.search, TOPOLOGY)
    save_model(tmp_path / "again", again)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


@pytest.mark.parametrize("of", [lambda: hybrid(GaussianNB()), two_streams])
def test_a_file_knows_the_passes_over_sequences_and_an_older_one_does_not(tmp_path: Path, of) -> None:
    model = of()
    assert describe_model(model)["sequence passes"] == 0
    _, trained = hybrid_stream(model.hmm.acoustic_model)
    trained.smbr_epochs = 2
    save_model(tmp_path / "model", model)
    assert describe_model(tmp_path / "model")["sequence passes"] == 2
    assert describe_model(load_model(tmp_path / "model"))["sequence passes"] == 2
    arrays, metadata = load_arrays(tmp_path / "model")
    del metadata["smbr_epochs"]
    save_arrays(tmp_path / "older", arrays, metadata)
    older = load_model(tmp_path / "older")
    assert describe_model(older)["sequence passes"] == "unknown (not in the file)"
    save_model(tmp_path / "again", older)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "older").read_bytes()


def test_mixtures_read_again_give_equal_scores(tmp_path: Path) -> None:
    model = mixtures()
    save_model(tmp_path / "model", model)
    again = load_model(tmp_path / "model")
    frames = model.front_end.transform(training()[0]).frames
    np.testing.assert_array_equal(again.hmm.log_likelihood(frames), model.hmm.log_likelihood(frames))
    np.testing.assert_array_equal(again.hmm.self_loops, model.hmm.self_loops)
    assert (again.kind, again.source, again.arpa) == ("gmm", "archive", None)


def test_model_file_keeps_multigraphs(tmp_path: Path) -> None:
    table = {"uu": ("UW",), "h": ()}
    lexicon = Lexicon(LEXICON.pronunciations, graphemes=True, multigraphs=table)
    save_model(tmp_path / "model", replace(mixtures(), lexicon=lexicon))
    assert load_model(tmp_path / "model").lexicon.multigraphs == table
    assert "2 lines" in describe_model(tmp_path / "model")["pronunciations"]


def test_model_file_keeps_pronunciation_probabilities(tmp_path: Path) -> None:
    save_model(tmp_path / "model", mixtures())
    assert load_model(tmp_path / "model").lexicon.probabilities == LEXICON.probabilities
    assert "1 word" in describe_model(tmp_path / "model")["pronunciation probabilities"]
    equal = replace(mixtures(), lexicon=Lexicon(LEXICON.pronunciations))
    assert "pronunciation probabilities" not in describe_model(equal)


def test_a_hybrid_with_a_second_stream_read_again_gives_equal_scores(tmp_path: Path) -> None:
    model = two_streams()
    save_model(tmp_path / "model", model)
    again = load_model(tmp_path / "model")
    frames = model.front_end.transform(training()[0]).frames
    np.testing.assert_array_equal(again.hmm.log_likelihood(frames), model.hmm.log_likelihood(frames))
    description = describe_model(tmp_path / "model")
    assert description["second stream"] == {"Gaussians a state": 1, "features": 10, "weight": 0.6}
    assert description["state priors"] == {"prior_exponent": 1.0, "prior_floor": 0.01}


SHOWN = {"npd": "discriminants.sparse.npd.NPDClassifier", "pipeline": "sklearn.pipeline.Pipeline"}
SHOWN |= {"naive Bayes": "sklearn.naive_bayes.GaussianNB"}


@pytest.mark.parametrize("name", SHOWN)
def test_description_names_the_classifier_and_its_settings(tmp_path: Path, name: str) -> None:
    save_model(tmp_path / "model", hybrid(CLASSIFIERS[name]()))
    description = describe_model(tmp_path / "model")
    assert description["classifier"] == SHOWN[name]
    assert description["state priors"] == {"prior_exponent": 0.7, "prior_floor": 0.1}
    if name == "npd":
        assert description["classifier settings"]["n_centers"] == 20
        assert description["classifier settings"]["dictionary"] == "shared"


def test_a_description_of_mixtures_has_no_classifier(tmp_path: Path) -> None:
    save_model(tmp_path / "model", mixtures())
    description = describe_model(tmp_path / "model")
    assert "classifier" not in description
    assert (description["kind"], description["states"], description["words"]) == ("gmm", 9, 2)
    assert description["grammar"] == "free word loop"


def test_mixtures_for_other_features_are_refused(tmp_path: Path) -> None:
    model = mixtures()
    static = FrameTable.from_utterances(["u"], ["s"], [np.zeros((9, 4), np.float32)])
    other = FrontEnd(FeatureConfig(normalize="utterance")).fit(static)
    save_model(tmp_path / "model", SpeechModel(model.hmm, other, LEXICON, SearchSettings(), "audio"))
    with pytest.raises(ModelFormatError, match=r"gmm\.means is float64 of shape \(9, 2, 15\).* 12\)"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_of_other_features_is_refused(tmp_path: Path, name: str) -> None:
    model = hybrid(CLASSIFIERS[name]())
    static, states = training()
    other = FrontEnd(CONFIG.model_copy(update={"lda_dimension": 3})).fit(static, states)
    save_model(tmp_path / "model", SpeechModel(model.hmm, other, LEXICON, SearchSettings(), "audio"))
    with pytest.raises(ModelFormatError, match="inconsistent"):
        load_model(tmp_path / "model")


Change = Callable[[dict, dict], None]


def spoiled(path: Path, change: Change) -> None:
    """The file again, whole by its digest, with other arrays or metadata."""
    arrays, metadata = load_arrays(path)
    change(arrays, metadata)
    save_arrays(path, arrays, metadata)


def resized(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Change:
    return lambda arrays, _: arrays.__setitem__(name, change(arrays[name]))


def retold(*keys: str | int, value: object) -> Change:
    def change(_: dict, metadata: dict) -> None:
        for key in keys[:-1]:
            metadata = metadata[key]
        metadata[keys[-1]] = value

    return change


FRONT_ENDS = {
    "a huge dimension": retold("front_end", "static_dimension", value=10**9),
    "a dimension beyond counting": retold("front_end", "static_dimension", value=10**4000),
    "no dimension": retold("front_end", "static_dimension", value=0),
    "a dimension that is a word": retold("front_end", "static_dimension", value="5"),
    "a huge context": retold("front_end", "config", "context", value=10**9),
    "many states a phone": retold("states_per_phone", value=10**9),
    "half a state": retold("states_per_phone", value=3.5),
    "no state": retold("states_per_phone", value=0),
}


@pytest.mark.parametrize("change", FRONT_ENDS.values(), ids=FRONT_ENDS)
@pytest.mark.parametrize("make", [mixtures, two_streams, lambda: unnormalized(GaussianNB())])
def test_sizes_without_arrays_are_refused_at_no_cost(
    tmp_path: Path, make: Callable[[], SpeechModel], change: Change
) -> None:
    save_model(tmp_path / "model", make())
    spoiled(tmp_path / "model", change)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFormatError, match="model"):
            load_model(tmp_path / "model")
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


def unnormalized(classifier: object) -> SpeechModel:
    """A front end without arrays."""
    static, states = training()
    front_end = FrontEnd(FeatureConfig(normalize="none", context=1)).fit(static)
    acoustic = HybridAcousticModel(classifier, TOPOLOGY.n_states)
    acoustic.fit(front_end.transform(static).frames, states)
    hmm = PhoneHmm(TOPOLOGY, acoustic, uniform_self_loops(TOPOLOGY))
    return SpeechModel(hmm, front_end, LEXICON, SearchSettings(), "audio")


@pytest.mark.parametrize(
    "change",
    [
        retold("hybrid", value={"prior_exponent": 1.0, "prior_floor": 0.1, "block": -1}),
        retold("hybrid", value={"prior_exponent": "1", "prior_floor": 0.1}),
        retold("hybrid", value=None),
        retold("classifier", value=None),
        retold("calibration", value={"format": "scikit-learn estimator, 2", "estimator": None}),
        retold("kind", value="gmm"),
        retold("source", value="radio"),
        retold("kind", value="neural"),
        retold("lexicon_digest", value="0"),
        retold("lexicon", value=[]),
        retold("phones", value=["AH"]),
        retold("phones", value=["AH", "\x1b[2J"]),
        retold("search", value={"beam": -1}),
        retold("arpa", value=3),
        retold("colour", value="red"),
        retold("front_end", value={"config": {}, "static_dimension": 13}),
        retold("classifier", "estimator", 1, value="sklearn.svm:SVC"),
        retold("classifier", "estimator", 3, value=[]),
        retold("classifier", "estimator", 3, value=[["theta_", ["array", "nowhere"]]]),
        resized("self_loops", lambda a: a * 0 + 1.5),
        resized("log_priors", lambda a: a[:3]),
        retold("probabilities", value={"ONE": [0.5]}),
        retold("probabilities", value={"ONE": [1.0, 0.0]}),
        retold("probabilities", value={"UH": [1.0]}),
        retold("probabilities", value={}),
        resized("log_priors", lambda a: a * np.nan),
        resized("front_end.lda", lambda a: a * np.inf),
        resized("front_end.lda", lambda a: np.float32(1)),
        resized("front_end.deviation", lambda a: a * 0),
        resized("classifier.GaussianNB.classes_", lambda a: a + 1000),
        resized("classifier.GaussianNB.classes_", lambda a: a * 0),
        resized("classifier.GaussianNB.theta_", lambda a: a[:, :2].copy()),
    ],
)
def test_parts_that_do_not_fit_are_told_in_one_sentence(tmp_path: Path, change: Change) -> None:
    save_model(tmp_path / "model", hybrid(GaussianNB()))
    spoiled(tmp_path / "model", change)
    with pytest.raises(ModelFormatError, match="inconsistent"):
        load_model(tmp_path / "model")


def test_a_byte_that_changed_among_the_arrays_is_noticed(tmp_path: Path) -> None:
    save_model(tmp_path / "model", hybrid(GaussianNB()))
    content = bytearray((tmp_path / "model").read_bytes())
    content[-3] ^= 1
    (tmp_path / "model").write_bytes(content)
    for read in (load_model, describe_model):
        with pytest.raises(ModelFormatError, match="checksum"):
            read(tmp_path / "model")


def test_a_description_shows_no_control_characters(tmp_path: Path) -> None:
    save_model(tmp_path / "model", hybrid(NPDClassifier(20, random_state=0)))
    odd = ["\x1b[2J", "\x9b1m"]
    spoiled(tmp_path / "model", lambda _, metadata: metadata["classifier"]["estimator"][2].append(odd))
    spoiled(tmp_path / "model", retold("lexicon_digest", value="\x1b[2J"))
    assert "\x1b" not in str(describe_model(tmp_path / "model").values())
    assert describe_model(tmp_path / "model")["lexicon digest"] == "\\x1b[2J"
    assert describe_model(tmp_path / "model")["classifier settings"]["\\x1b[2J"] == "\\x9b1m"


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_scores_that_are_no_numbers_are_told_before_a_search_goes_on_them() -> None:
    hmm = mixtures().hmm
    with pytest.raises(DecodeError, match="not numbers"):
        hmm.log_likelihood(np.full((3, 15), 1e30, np.float32))
    model = hybrid(NPDClassifier(20, kernel=PolynomialKernel(9), random_state=0))
    with pytest.raises(DecodeError, match=r"NPDClassifier cannot score these frames: values .* are too large"):
        model.hmm.log_likelihood(np.full((3, 4), 1e9, np.float32))


def test_a_missing_file_is_an_error_of_ours_and_of_the_system(tmp_path: Path) -> None:
    for kind in (FileNotFoundError, ModelFormatError):
        with pytest.raises(kind, match="none does not exist"):
            load_model(tmp_path / "none")


def test_prior_ceiling_stays_in_a_model_read_and_written(tmp_path: Path) -> None:
    static, states = training()
    front_end = FrontEnd(CONFIG).fit(static, states)
    acoustic = HybridAcousticModel(GaussianNB(), TOPOLOGY.n_states, prior_ceiling=2.0)
    acoustic.fit(front_end.transform(static).frames, states)
    hmm = PhoneHmm(TOPOLOGY, acoustic, uniform_self_loops(TOPOLOGY))
    save_model(tmp_path / "model", SpeechModel(hmm, front_end, LEXICON, SearchSettings(), "audio"))
    save_model(tmp_path / "again", load_model(tmp_path / "model"))
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    assert describe_model(tmp_path / "again")["state priors"]["prior_ceiling"] == 2.0


def test_a_file_says_what_the_model_was_trained_on_and_may_say_nothing(tmp_path: Path) -> None:
    model = mixtures()
    save_model(tmp_path / "model", model)
    assert load_model(tmp_path / "model").trained_on is None
    assert describe_model(tmp_path / "model")["trained on"] == "unknown (not in the file)"
    texts = Provenance(utterances=31, speakers=1, words=62, seconds=87.25, version="0.1.0")
    save_model(tmp_path / "told", replace(model, trained_on=texts))
    again = load_model(tmp_path / "told")
    assert again.trained_on == texts
    shown = {"hours": 0.0242, "utterances": 31, "speakers": 1, "words": 62, "by version": "0.1.0"}
    assert describe_model(again)["trained on"] == describe_model(tmp_path / "told")["trained on"] == shown
    assert describe_model(again) == describe_model(tmp_path / "told")
