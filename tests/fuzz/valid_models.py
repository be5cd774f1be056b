"""Small models, fitted in milliseconds, of every kind that a model file can hold."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from asr.acoustic.composite import CompositeAcousticModel, two_stream_model
from asr.acoustic.hybrid import HybridAcousticModel
from asr.acoustic.model_file import SearchSettings, SpeechModel, save_model
from asr.acoustic.phone_hmm import PhoneHmm
from asr.acoustic.state_mixtures import mixtures_of_states
from asr.alignment.pause_model import PauseSounds
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.features.speaker_background import fit_mixture
from asr.hmm.topology import Topology, uniform_self_loops
from asr.lexicon import Lexicon
from asr.recognition.speaker_transforms import adaptable
from discriminants.fisher.kfd import KFDClassifier
from discriminants.fisher.linear_discriminant import LinearDiscriminant
from discriminants.kernels import (
    ConformalKernel,
    DistanceKernel,
    FourierKernel,
    HiddenLayerKernel,
    InverseMultiquadricKernel,
    LocalImageKernel,
    LocalSequenceKernel,
    NormalizedKernel,
    PolynomialKernel,
    SplineKernel,
)
from discriminants.multiclass.pairwise import PairwiseClassifier
from discriminants.serialization.persistence import estimator_to_arrays, save_arrays
from discriminants.sparse.krls import KRLSClassifier
from discriminants.sparse.npd import NPDClassifier, NPDRegressor
from discriminants.sparse.one_vs_one import OneVsOneKernelClassifier
from discriminants.sparse.one_vs_one_svc import OneVsOneSVC
from discriminants.sparse.orols import OROLSClassifier
from discriminants.sparse.sparse_logistic import SparseKernelLogisticClassifier
from tests.hmm.random_tying import random_tying

TOPOLOGY = Topology(("AH", "UW"))
LEXICON = Lexicon({"ONE": (("AH",), ("AH", "UW")), "TWO": (("UW", "AH"),)}, probabilities={("ONE", ("AH", "UW")): 0.5})
ARPA = "\\data\\\nngram 1=4\n\n\\1-grams:\n-99 <s>\n-1 </s>\n-1 ONE\n-1 TWO\n\n\\end\\\n"
CONFIG = FeatureConfig(
    sample_rate=8000, n_filters=12, n_cepstra=4, delta_order=1, normalize="corpus", context=1, lda_dimension=4
)

HYBRIDS: dict[str, Callable[[], Any]] = {
    "kernel-logistic": lambda: SparseKernelLogisticClassifier(12, n_candidates=40, max_iter=1, random_state=0),
    "laplacian": lambda: OROLSClassifier(12, kernel="laplacian", sigma=2.0, random_state=0),
    "orols": lambda: OROLSClassifier(12, random_state=0),
    "npd": lambda: NPDClassifier(12, random_state=0, posterior="multinomial"),
    "mlp": lambda: MLPClassifier((6,), max_iter=60, tol=1e-1, random_state=0),
    "logistic": lambda: LogisticRegression(max_iter=300),
    "svc": lambda: SVC(),
    "knn": lambda: KNeighborsClassifier(3, algorithm="brute"),
    "naive-bayes": lambda: GaussianNB(),
    "ridge": lambda: RidgeClassifier(),
    "pipeline": lambda: make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
}

ESTIMATORS: dict[str, dict[str, Callable[[], Any]]] = {
    "kernels": {
        kernel: partial(OROLSClassifier, 8, kernel=kernel, random_state=0)
        for kernel in ("gaussian", "exponential", "compact_gaussian", "laplacian", "linear", "polynomial", "sigmoid")
    },
    "combined-kernels": {
        str(number): partial(OROLSClassifier, 8, kernel=kernel, random_state=0)
        for number, kernel in enumerate(
            (
                DistanceKernel(PolynomialKernel(2)) * ConformalKernel(InverseMultiquadricKernel(), np.ones((2, 3))),
                NormalizedKernel(LocalImageKernel((1, 3))) + 0.5 * HiddenLayerKernel(8),
                FourierKernel() + LocalSequenceKernel() * SplineKernel(),
            )
        )
    },
    "learners": {
        "private": lambda: OROLSClassifier(8, posterior="multinomial", dictionary="private", random_state=0),
        "krls": lambda: KRLSClassifier(0.1, posterior="platt"),
        "kfd": lambda: KFDClassifier(regularization=0.1),
        "linear": lambda: LinearDiscriminant(posterior="gaussian"),
        "pairs": lambda: PairwiseClassifier(NPDClassifier(8), "coupling"),
        "one_vs_one": lambda: OneVsOneKernelClassifier(candidates_per_class=2, random_state=0),
        "one_vs_one_svc": lambda: OneVsOneSVC(random_state=0),
        "regression": lambda: NPDRegressor(8, random_state=0),
        "irls": lambda: SparseKernelLogisticClassifier(8, random_state=0, solver="irls", alpha=1e-3, loss="ovr"),
    },
    "sklearn": {
        "svc": lambda: SVC(),
        "knn": lambda: KNeighborsClassifier(3, algorithm="brute"),
        "mlp": lambda: MLPClassifier((6,), max_iter=40, tol=1e-1, random_state=0),
        "pipeline": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
    },
}


PLAIN = CONFIG.model_copy(update={"context": 0, "lda_dimension": None})


@cache
def training() -> tuple[FrameTable, np.ndarray]:
    """Static features of 150 frames of two utterances, and a state for each but for the last state, which has none."""
    random = np.random.default_rng(0)
    states = random.integers(0, TOPOLOGY.n_states - 1, 150).astype(np.int32)
    frames = (np.eye(TOPOLOGY.n_states, 5)[states] * 4 + random.normal(size=(150, 5))).astype(np.float32)
    return FrameTable.from_utterances(["u", "v"], ["s", "t"], [frames[:60], frames[60:]]), states


def hybrid(classifier: Any) -> SpeechModel:
    """A hybrid with a front end that has everything."""
    static, states = training()
    front_end = FrontEnd(CONFIG).fit(static, states)
    acoustic = HybridAcousticModel(classifier, TOPOLOGY.n_states, prior_exponent=0.7, prior_floor=0.1)
    return _model(acoustic.fit(front_end.transform(static).frames, states), front_end, ARPA)


def mixtures() -> SpeechModel:
    static, states = training()
    front_end = FrontEnd(PLAIN).fit(static)
    return _model(mixtures_of_states(front_end.transform(static).frames, states, TOPOLOGY.n_states, 2), front_end, None)


def knowing_pauses() -> SpeechModel:
    """Mixtures with what pauses sound like."""
    model = mixtures()
    frames = model.front_end.transform(training()[0]).frames
    pause, speech = (fit_mixture(part, 2, 0.01) for part in np.array_split(frames, 2))
    sounds = PauseSounds(pause, speech, frames.var(axis=0, dtype=np.float64))
    return replace(model, hmm=replace(model.hmm, pauses=sounds))


def tied_states() -> SpeechModel:
    """Mixtures of states that depend on the neighbours of a phone."""
    static, states = training()
    front_end = FrontEnd(PLAIN).fit(static)
    tying = random_tying(0, len(TOPOLOGY.phones), TOPOLOGY.states_per_phone)
    states = states % tying.n_states
    acoustic = mixtures_of_states(front_end.transform(static).frames, states, tying.n_states, 2)
    return _model(acoustic, front_end, None, replace(TOPOLOGY, tying=tying))


def two_streams() -> SpeechModel:
    """A hybrid with a second stream of mixtures."""
    static, states = training()
    front_end = FrontEnd(CONFIG.model_copy(update={"append_static": True})).fit(static, states)
    frames = front_end.transform(static).frames
    own = mixtures_of_states(frames[:, -front_end.n_unspliced_ :], states, TOPOLOGY.n_states, 2)
    n_own = frames.shape[1] - front_end.n_unspliced_
    hybrid = HybridAcousticModel(GaussianNB(), TOPOLOGY.n_states).fit(frames[:, :n_own], states)
    acoustic = two_stream_model(hybrid, own, front_end.n_unspliced_, frames.shape[1], 0.6)
    return _model(acoustic, front_end, None)


def composite() -> SpeechModel:
    """The same streams in another order, and a second hybrid."""
    model = two_streams()
    acoustic = model.hmm.acoustic_model
    assert isinstance(acoustic, CompositeAcousticModel)
    first, second = acoustic.streams
    streams = [second, first, replace(first, weight=0.25)]
    return _model(CompositeAcousticModel(streams), model.front_end, None)


def mapped() -> SpeechModel:
    """Mixtures adapted to speakers, without training for it, and mixtures of mapped frames that differ from them."""
    static, states = training()
    front_end = FrontEnd(CONFIG).fit(static, states)
    gaussians = mixtures_of_states(front_end.transform(static).frames, states, TOPOLOGY.n_states, 1)
    model = adaptable(_model(gaussians, front_end, None))
    assert model.speakers is not None
    other = model.speakers.mapped.split(0.1)
    return replace(model, speakers=replace(model.speakers, mapped=other))


def warped() -> SpeechModel:
    """Mixtures that tell the lengths of vocal tracts."""
    return adaptable(mixtures(), "vtln")


def _model(acoustic: Any, front_end: FrontEnd, arpa: str | None, topology: Topology = TOPOLOGY) -> SpeechModel:
    hmm = PhoneHmm(topology, acoustic, uniform_self_loops(topology))
    return SpeechModel(hmm, front_end, LEXICON, SearchSettings(lm_scale=3.0), "audio", arpa)


def model_bytes_of(model: SpeechModel, folder: Path) -> bytes:
    """As `save_model` writes it."""
    save_model(folder / "model", model)
    return (folder / "model").read_bytes()


def estimator_bytes(estimator: Any, folder: Path) -> bytes:
    """A fitted estimator in a file."""
    save_arrays(folder / "estimator", *estimator_to_arrays(estimator))
    return (folder / "estimator").read_bytes()


def fitted(make: Callable[[], Any]) -> Any:
    """An estimator fitted to three classes of three features."""
    random = np.random.default_rng(1)
    labels = np.arange(60) % 3
    X = (np.eye(3)[labels] * 3 + random.normal(size=(60, 3))).astype(np.float32)
    return make().fit(X, labels)
