"""A recording's own noise, and what is kept of pauses in a model file."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from asr.acoustic.gmm import single_gaussians
from asr.acoustic.phone_hmm import PhoneHmm
from asr.alignment.pause_model import CERTAIN, GUIDANCE, ROUNDS, PauseSounds
from asr.features.frame_table import FrameTable
from asr.hmm.topology import Topology, uniform_self_loops

N = 3


def recordings(n: int = 30, seed: int = 0) -> tuple[FrameTable, np.ndarray]:
    """Frames of n recordings, each of a room of its own, and where there are pauses."""
    rng = np.random.default_rng(seed)
    matrices, paused = [], []
    for _ in range(n):
        quiet = np.zeros(150, bool)
        quiet[:40] = quiet[70:100] = True
        speech = rng.normal(size=(150, N)) + np.array([0.0, 4.0, 0.0])
        noise = rng.normal(size=(150, N)) * 0.4 + rng.normal(size=N) * np.array([1.5, 0.5, 1.5])
        matrices.append(np.where(quiet[:, None], noise, speech).astype(np.float32))
        paused.append(quiet)
    return FrameTable.from_utterances([f"r{i:02d}" for i in range(n)], ["s"] * n, matrices), np.concatenate(paused)


def learnt() -> PauseSounds:
    table, paused = recordings()
    sounds = PauseSounds.learnt(table, paused, ~paused)
    assert sounds is not None
    return sounds


def naive(sounds: PauseSounds, frames: np.ndarray) -> np.ndarray:
    """The evidence of a recording by densities of scipy, frame by frame."""

    def density(mixture, frame):
        parts = zip(mixture.weights, mixture.means, mixture.variances, strict=True)
        return logsumexp([np.log(w) + multivariate_normal(m, np.diag(v)).logpdf(frame) for w, m, v in parts])

    evidence = np.full(len(frames), CERTAIN)
    for number in range(ROUNDS + 1):
        own = frames[evidence < 0].astype(np.float64)
        raw = []
        for frame in frames.astype(np.float64):
            pause = density(sounds.pause, frame)
            if number and len(own) >= 10:
                variance = (len(own) * own.var(axis=0) + 20 * sounds.spread) / (len(own) + 20)
                pause = np.logaddexp(pause, multivariate_normal(own.mean(axis=0), np.diag(variance)).logpdf(frame))
            raw.append(density(sounds.speech, frame) - pause)
        around = [range(max(0, i - 2), min(len(raw), i + 3)) for i in range(len(raw))]
        mean = np.array([np.mean([raw[i] for i in near]) for near in around])
        evidence = np.full(len(frames), CERTAIN)
        start = 0
        while start < len(mean):
            end = start
            while end < len(mean) and mean[end] < 0:
                end += 1
            if end - start >= 20:
                evidence[start:end] = np.maximum(mean[start:end], -CERTAIN)
            start = end + 1
    return evidence


def test_evidence_is_that_of_a_loop_over_frames():
    sounds, frames = learnt(), recordings(2, seed=5)[0].utterance(1)
    np.testing.assert_allclose(sounds.of_recording(frames), naive(sounds, frames), atol=1e-4)


def test_noise_of_an_unheard_room_is_found():
    sounds = learnt()
    table, paused = recordings(20, seed=7)
    alone = np.concatenate([sounds.of_recording(table.utterance(number)) for number in range(len(table))])
    assert np.mean((alone < 0) == paused) > 0.95


def test_too_few_frames_of_either_tell_nothing():
    table, paused = recordings(3)
    assert PauseSounds.learnt(table, paused, ~paused) is None
    table, paused = recordings()
    assert PauseSounds.learnt(table, np.zeros_like(paused), ~paused) is None


@pytest.mark.parametrize("n_frames", [0, 1, 5])
def test_hardly_any_frames_are_speech(n_frames):
    frames = recordings()[0].utterance(0)[:n_frames]
    np.testing.assert_array_equal(learnt().of_recording(frames), np.full(n_frames, CERTAIN))


def test_scores_of_speech_fall_where_the_noise_is_heard_and_only_there():
    topology = Topology(("a",))
    mixtures = single_gaussians(np.zeros(N), np.ones(N), topology.n_states)
    plain = PhoneHmm(topology, mixtures, uniform_self_loops(topology))
    knowing = PhoneHmm(topology, mixtures, uniform_self_loops(topology), learnt())
    frames = recordings(1, seed=3)[0].utterance(0)
    lost = plain.recording_scores(frames) - knowing.recording_scores(frames)
    evidence = knowing.pauses.of_recording(frames)
    assert (evidence < 0).any()
    n_silence = len(topology.silence_states)
    np.testing.assert_array_equal(lost[:, :n_silence], 0.0)
    expected = np.repeat(-GUIDANCE * np.minimum(evidence, 0.0)[:, None], topology.n_states - n_silence, axis=1)
    np.testing.assert_allclose(lost[:, n_silence:], expected, atol=1e-4)
    np.testing.assert_array_equal(plain.recording_scores(frames), plain.log_likelihood(frames))


def test_arrays_come_back_and_others_are_refused():
    sounds = learnt()
    arrays = sounds.to_arrays()
    frames = recordings(1, seed=9)[0].utterance(0)
    back = PauseSounds.from_arrays(arrays, N, sounds.frame_shift)
    np.testing.assert_array_equal(back.of_recording(frames), sounds.of_recording(frames))
    with pytest.raises(ValueError, match=r"pauses\.pause\.means .* float64 of shape"):
        PauseSounds.from_arrays(arrays, N + 1, 0.01)
    for name in ("pause.weights", "speech.variances", "spread"):
        with pytest.raises(ValueError, match=rf"pauses\.{name}"):
            PauseSounds.from_arrays({**arrays, name: np.zeros_like(arrays[name])}, N, 0.01)
    with pytest.raises(ValueError, match="1 to 8 components"):
        PauseSounds.from_arrays({**arrays, "pause.weights": np.full(9, 0.1)}, N, 0.01)
    with pytest.raises(KeyError):
        PauseSounds.from_arrays({name: array for name, array in arrays.items() if name != "spread"}, N, 0.01)
