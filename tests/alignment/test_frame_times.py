"""Times in seconds against the places of the windows in the audio."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from praatio import textgrid

from asr.alignment.ctm import ctm_rows
from asr.alignment.frame_times import FrameTimes, frame_times
from asr.alignment.textgrid import write_textgrid
from asr.corpus.audio import audio_seconds, read_audio
from asr.corpus.data_directory import Utterance
from asr.decode.path_segments import Segment
from asr.features.config import FeatureConfig
from asr.features.frame_table import FrameTable
from asr.features.mfcc import mfcc
from asr.util.errors import CorpusError

CONFIG = FeatureConfig()


def test_a_border_lies_halfway_between_the_centres_of_the_frames_beside_it():
    times = FrameTimes.of(CONFIG, 100, 1.02)
    centres = np.arange(100) * 0.01 + 0.0125
    halfway = (centres[:-1] + centres[1:]) / 2
    np.testing.assert_allclose([times.border(frame) for frame in range(1, 100)], halfway, atol=5.1e-4)
    assert times.border(50) == pytest.approx(0.5075, abs=5.1e-4)
    assert times.border(0) == 0.0
    assert times.border(100) == 1.02


@pytest.mark.parametrize("rate", [8000, 11025, 16000, 22050])
def test_a_border_is_where_the_sound_changes(rate):
    """Silence, then noise: the first frame of which more than half is noise begins at the change, whatever the rate."""
    config = FeatureConfig(sample_rate=rate)
    change, end = 1.5, 3.0117
    signal = np.random.default_rng(0).choice([-1000.0, 1000.0], round(end * rate))
    signal[: round(change * rate)] *= 1e-3
    energy = mfcc(signal, config)[:, -1]
    half = np.log(0.5 * np.exp(np.float64(energy[-1])))
    times = FrameTimes.of(config, len(energy), len(signal) / rate)
    assert times.border(int(np.argmax(energy > half))) == pytest.approx(change, abs=0.5 * times.shift + 2e-3)
    assert times.border(len(energy)) == pytest.approx(end, abs=1e-3)


@given(st.integers(1, 500), st.sampled_from([8000, 11025, 16000]), st.none() | st.floats(0, 20))
def test_frames_divide_the_whole_of_an_utterance_and_none_lasts_no_time(n_frames, rate, seconds):
    config = FeatureConfig(sample_rate=rate)
    times = FrameTimes.of(config, n_frames, seconds)
    borders = [times.border(frame) for frame in range(n_frames + 1)]
    assert borders[0] == 0.0
    assert (np.diff(borders) > 0).all()
    samples = times.duration * rate
    first, last = config.window_samples + (n_frames - 1) * config.shift_samples, config.shift_samples
    assert first - 1e-6 <= samples <= first + last + 1e-6


def test_features_from_an_archive_end_with_their_last_window():
    times = FrameTimes.of(FeatureConfig(window_ms=32.0, shift_ms=16.0), 10)
    assert times.border(10) == pytest.approx(9 * 0.016 + 0.032)
    assert times.border(1) == pytest.approx(0.024)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    soundfile.write(tmp_path / "a.wav", np.random.default_rng(0).normal(size=8000 * 2 + 133) / 10, 8000)
    return tmp_path / "a.wav"


@pytest.mark.parametrize(("start", "end"), [(None, None), (0.25, 1.1), (0.5, None), (1.0, 2.3)])
def test_the_header_tells_the_seconds_that_are_read(recording, start, end):
    assert audio_seconds(recording, start=start, end=end) == pytest.approx(
        len(read_audio(recording, rate=8000, start=start, end=end)) / 8000
    )


def test_audio_without_a_header_is_refused_by_name(tmp_path):
    (tmp_path / "b.wav").write_bytes(b"no audio")
    for path in (tmp_path / "b.wav", tmp_path / "c.wav"):
        with pytest.raises(CorpusError, match=path.name):
            audio_seconds(path)


def test_the_last_phone_and_the_grid_end_where_the_audio_does(recording, tmp_path):
    config = FeatureConfig(sample_rate=8000)
    utterance = Utterance("u", "s", ("A",), audio=recording)
    table = FrameTable.from_utterances(["u"], ["s"], [mfcc(read_audio(recording, rate=8000), config)])
    n_frames = table.n_frames
    times = frame_times(config, [utterance, Utterance("other", "s", None, audio=tmp_path / "none")], table)
    assert times.keys() == {"u"}
    segments = [Segment("SIL", 0, 40), Segment("x", 40, n_frames)]
    rows = ctm_rows("u", segments, times["u"])
    assert [row.start for row in rows] == [0.0, 0.408]  # 40 * 0.010 + 0.0075
    assert rows[1].start + rows[1].duration == pytest.approx(2 + 133 / 8000, abs=5.1e-4)
    of_u = times["u"]
    intervals = [(of_u.border(one.start), of_u.border(one.end), one.label) for one in segments]
    write_textgrid(tmp_path / "u.TextGrid", {"phones": intervals}, of_u.border(of_u.n_frames))
    grid = textgrid.openTextgrid(str(tmp_path / "u.TextGrid"), includeEmptyIntervals=True)
    assert grid.maxTimestamp == pytest.approx(2 + 133 / 8000, abs=6e-5)
    entries = grid.getTier("phones").entries
    assert [entry.label for entry in entries] == ["SIL", "x"]
    assert entries[-1].end == grid.maxTimestamp
