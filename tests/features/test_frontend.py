"""Normalization, LDA, streaming, and the front end as a value to be stored."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from asr.features.config import FeatureConfig
from asr.features.deltas import add_deltas, splice
from asr.features.frame_table import FrameTable
from asr.features.frontend import FrontEnd
from asr.features.mfcc import mfcc
from asr.util.errors import FeatureError, ModelFormatError


def random_table(seed: int = 0, dimension: int = 4, lengths: tuple[int, ...] = (30, 7, 1, 55, 20)) -> FrameTable:
    generator = np.random.default_rng(seed)
    parts = [
        (generator.normal(size=(n, dimension)) * [1, 5, 0.1, 20][:dimension] + generator.normal(size=dimension) * 30)
        for n in lengths
    ]
    return FrameTable.from_utterances(
        [f"u{i}" for i in range(len(lengths))], [f"s{i % 2}" for i in range(len(lengths))], parts
    )


def by_group(table: FrameTable, kind: str) -> list[np.ndarray]:
    groups = {"corpus": ["all"] * len(table), "speaker": table.speakers, "utterance": table.ids}[kind]
    return [
        np.concatenate([table.utterance(i) for i, g in enumerate(groups) if g == group])
        for group in sorted(set(groups))
    ]


@pytest.mark.parametrize("kind", ["corpus", "speaker", "utterance"])
def test_frames_have_zero_mean_and_unit_deviation_per_group(kind):
    table = random_table(lengths=(30, 70, 41, 55))
    frames = FrontEnd(FeatureConfig(normalize=kind, speaker_prior=0)).fit(table).transform(table)
    assert frames.n_features == 12 and frames.frames.dtype == np.float32
    for group in by_group(frames, kind):
        np.testing.assert_allclose(group.mean(axis=0, dtype=np.float64), 0, atol=1e-4)
        np.testing.assert_allclose(group.std(axis=0, dtype=np.float64), 1, atol=1e-4)


def test_speaker_statistics_are_those_of_the_table_at_hand():
    front_end = FrontEnd(FeatureConfig(normalize="speaker", speaker_prior=0)).fit(random_table(seed=1))
    frames = front_end.transform(random_table(seed=2))
    for group in by_group(frames, "speaker"):
        np.testing.assert_allclose(group.mean(axis=0, dtype=np.float64), 0, atol=1e-4)


@pytest.mark.parametrize("kind", ["corpus", "speaker", "utterance"])
def test_constant_columns_become_zero(kind):
    table = FrameTable.from_utterances(["a", "b"], ["s", "s"], [np.full((9, 2), 12.3), np.full((4, 2), 12.3)])
    frames = FrontEnd(FeatureConfig(normalize=kind)).fit(table).transform(table).frames
    assert not frames.any()


def test_without_normalization_frames_are_statics_and_differences_spliced():
    table = random_table()
    config = FeatureConfig(normalize="none", context=2, delta_window=3, delta_order=1)
    frames = FrontEnd(config).fit(table).transform(table)
    for i in range(len(table)):
        np.testing.assert_array_equal(frames.utterance(i), splice(add_deltas(table.utterance(i), 3, 1), 2))


def test_moments_agree_with_double_precision_on_a_large_offset():
    generator = np.random.default_rng(5)
    table = FrameTable.from_utterances("ab", "st", [generator.normal(size=(n, 2)) + 3000 for n in (500, 41)])
    front_end = FrontEnd(FeatureConfig(delta_order=0)).fit(table)
    np.testing.assert_allclose(front_end.mean_, table.frames.mean(axis=0, dtype=np.float64), rtol=1e-6)
    np.testing.assert_allclose(front_end.deviation_, table.frames.std(axis=0, dtype=np.float64), rtol=1e-6)


def labelled(seed: int = 0, n_classes: int = 6) -> tuple[FrameTable, np.ndarray]:
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, n_classes, 900)
    means = generator.normal(size=(n_classes, 4)) * 2
    frames = (means[labels] + generator.normal(size=(900, 4))) @ generator.normal(size=(4, 4))
    return FrameTable.from_utterances("abc", "sst", np.split(frames, [300, 550])), labels


def test_lda_finds_the_directions_of_scikit_learn():
    table, labels = labelled()
    config = FeatureConfig(normalize="none", delta_order=0, context=1, lda_dimension=3)
    ours = FrontEnd(config).fit(table, labels).transform(table).frames
    spliced = np.concatenate([splice(table.utterance(i), 1) for i in range(3)]).astype(np.float64)
    theirs = LinearDiscriminantAnalysis(solver="eigen", n_components=3).fit(spliced, labels).transform(spliced)
    for column in range(3):
        assert abs(np.corrcoef(ours[:, column], theirs[:, column])[0, 1]) > 0.999  # theirs has no ridge


def test_lda_whitens_within_and_sorts_between_classes():
    table, labels = labelled()
    front_end = FrontEnd(FeatureConfig(delta_order=1, context=1, lda_dimension=4)).fit(table, labels)
    plain = FrontEnd(FeatureConfig(delta_order=1, context=1)).fit(table).transform(table).frames.astype(np.float64)
    frames = front_end.transform(table).frames.astype(np.float64)
    assert frames.shape == (900, 4) and front_end.n_features_ == 4 and front_end.lda_.dtype == np.float32
    means = np.array([plain[labels == label].mean(axis=0) for label in range(6)])
    within = np.cov((plain - means[labels]).T, bias=True)
    with_ridge = within + 1e-3 * np.diag(np.diag(within))
    matrix = front_end.lda_.astype(np.float64)
    np.testing.assert_allclose(matrix.T @ with_ridge @ matrix, np.eye(4), atol=1e-4)
    np.testing.assert_allclose(frames.mean(axis=0), 0, atol=1e-4)
    projected = np.array([frames[labels == label].mean(axis=0) for label in range(6)])
    between = projected.T @ np.diag(np.bincount(labels)) @ projected / len(frames)
    np.testing.assert_allclose(between, np.diag(np.diag(between)), atol=1e-3)
    assert np.all(np.diff(np.diag(between)) < 0)
    assert np.all(front_end.lda_[np.abs(front_end.lda_).argmax(axis=0), range(4)] > 0)


def test_lda_does_not_scale_up_rounding():
    generator = np.random.default_rng(7)
    labels = np.repeat(np.arange(5), 200)
    slow = generator.normal(size=(1000, 2)) + labels[:, None]
    nearly = slow + 1e-4 * generator.normal(size=(1000, 2))  # consecutive frames are equally similar
    frames = np.hstack([slow, nearly])
    config = FeatureConfig(normalize="none", delta_order=0, lda_dimension=3)
    matrices = []
    for moved in (0.0, 1e-6):
        noisy = frames + moved * generator.normal(size=frames.shape)
        table = FrameTable.from_utterances("ab", "st", np.split(noisy, [500]))
        matrices.append(FrontEnd(config).fit(table, labels).lda_)
    assert np.abs(matrices[0]).max() < 100
    assert np.abs(matrices[0] - matrices[1]).max() < 0.1


def test_lda_leaves_out_frames_labelled_minus_one_and_absent_classes():
    table, labels = labelled()
    config = FeatureConfig(normalize="none", delta_order=0, lda_dimension=2)
    outliers = table.frames.copy()
    outliers[::7] = 1e4
    with_holes = np.where(np.arange(900) % 7 == 0, -1, labels * 3)
    kept = np.arange(900) % 7 != 0
    whole = FrontEnd(config).fit(FrameTable(table.ids, table.speakers, outliers, table.offsets), with_holes)
    reference = FrontEnd(config).fit(FrameTable.from_utterances("a", "s", [table.frames[kept]]), labels[kept])
    np.testing.assert_allclose(whole.lda_, reference.lda_, rtol=1e-3, atol=1e-5)


def test_lda_passes_over_columns_that_do_not_vary():
    table, labels = labelled()
    wider = table.map(lambda frames: np.concatenate([frames, np.full((len(frames), 1), 7.0), frames[:, :1]], axis=1))
    frames = FrontEnd(FeatureConfig(delta_order=0, lda_dimension=4)).fit(wider, labels).transform(wider).frames
    narrow = FrontEnd(FeatureConfig(delta_order=0, lda_dimension=4)).fit(table, labels).transform(table).frames
    for column in range(4):  # a repeated column has half of the ridge
        assert abs(np.corrcoef(frames[:, column], narrow[:, column])[0, 1]) > 0.999


def test_lda_asked_for_what_cannot_be_is_refused():
    table, labels = labelled()
    front_end = FrontEnd(FeatureConfig(delta_order=0, lda_dimension=4))
    for wrong, message in (
        (None, "needs a state label"),
        (labels[:-1], "900 integer labels"),
        (labels * 1.0, "integer labels"),
        (labels - 2, "at least -1"),
        (np.full(900, -1), "at least 2 classes"),
    ):
        with pytest.raises(FeatureError, match=message):
            front_end.fit(table, wrong)
    with pytest.raises(FeatureError, match="is above 4, the number of directions"):
        FrontEnd(FeatureConfig(delta_order=0, lda_dimension=5)).fit(table, labels)


def test_a_stored_front_end_gives_the_same_bits():
    table, labels = labelled()
    for config in (
        FeatureConfig(context=1, lda_dimension=3),
        FeatureConfig(normalize="speaker"),
        FeatureConfig(normalize="none"),
    ):
        front_end = FrontEnd(config).fit(table, labels)
        arrays, metadata = front_end.to_arrays()
        again = FrontEnd.from_arrays(arrays, json.loads(json.dumps(metadata)))
        assert again.config == config
        np.testing.assert_array_equal(again.transform(table).frames, front_end.transform(table).frames)


def test_a_stored_front_end_that_disagrees_with_itself_is_refused():
    table, labels = labelled()
    arrays, metadata = FrontEnd(FeatureConfig(lda_dimension=3)).fit(table, labels).to_arrays()
    wrong = [
        ({**arrays, "mean": arrays["mean"][:-1]}, metadata),
        ({}, metadata),
        (arrays, {}),
        (arrays, {**metadata, "static_dimension": 5}),
        (arrays, {**metadata, "config": {"windw": 1}}),
    ]
    for parts in wrong:
        with pytest.raises(ModelFormatError):
            FrontEnd.from_arrays(*parts)


def test_features_of_another_width_are_refused():
    front_end = FrontEnd(FeatureConfig()).fit(random_table(dimension=4))
    with pytest.raises(FeatureError, match=r"3 columns. Expected 4"):
        front_end.transform(random_table(dimension=3))


CONFIGS = [
    FeatureConfig(sample_rate=8000),
    FeatureConfig(sample_rate=8000, normalize="none", energy="c0", delta_order=0),
    FeatureConfig(sample_rate=8000, delta_window=3, delta_order=1, context=4),
    FeatureConfig(sample_rate=8000, context=2, lda_dimension=5),
    FeatureConfig(sample_rate=8000, context=3, lda_dimension=5, append_static=True),
]


@pytest.fixture(scope="module")
def fitted() -> list[FrontEnd]:
    generator = np.random.default_rng(11)
    front_ends = []
    for config in CONFIGS:
        static = FrameTable.from_utterances("a", "s", [mfcc(generator.normal(size=12_000) * 1000, config)])
        front_ends.append(FrontEnd(config).fit(static, np.arange(static.n_frames) % 9))
    return front_ends


@settings(max_examples=80, deadline=None)
@given(
    which=st.integers(0, len(CONFIGS) - 1),
    n=st.integers(0, 6000),
    seed=st.integers(0, 999),
    mean_chunk=st.sampled_from([3, 80, 200, 5000]),
)
def test_streaming_in_any_chunks_gives_the_numbers_of_batch(fitted, which, n, seed, mean_chunk):
    front_end = fitted[which]
    generator = np.random.default_rng(seed)
    signal = (generator.normal(size=n) * 1000).astype(np.float32)
    static = mfcc(signal, front_end.config)
    batch = front_end.transform(FrameTable.from_utterances("a", "s", [static])).frames
    stream, parts, position = front_end.stream(), [], 0
    while position < n:
        step = int(generator.integers(0, 2 * mean_chunk)) + (mean_chunk > 1000)
        parts.append(stream.push(signal[position : position + step]))
        position += step
    parts.append(stream.finish())
    streamed = np.concatenate(parts)
    assert streamed.dtype == np.float32 and streamed.shape == (len(static), front_end.n_features_)
    # Products of other block sizes add in another order: sums of hundreds of terms in single precision.
    np.testing.assert_allclose(streamed, batch, atol=3e-5, rtol=1e-5)


def test_a_streamed_frame_waits_only_for_its_look_ahead(fitted):
    stream = fitted[2].stream()
    signal = np.random.default_rng(0).normal(size=200 + 80 * 19).astype(np.float32) * 1000
    assert len(stream.push(signal)) == 20 - (3 * 1 + 4)


def test_a_finished_stream_takes_no_more(fitted):
    stream = fitted[0].stream()
    stream.finish()
    with pytest.raises(FeatureError, match="finished"):
        stream.push(np.zeros(10))


def test_streaming_is_refused_where_it_cannot_equal_batch():
    table = random_table()
    for kind in ("speaker", "utterance"):
        with pytest.raises(FeatureError, match="for streaming"):
            FrontEnd(FeatureConfig(normalize=kind)).fit(table).stream()
    with pytest.raises(FeatureError, match="dynamic_range_db = 0 for streaming"):
        FrontEnd(FeatureConfig(dynamic_range_db=35)).fit(table).stream()
    with pytest.raises(FeatureError, match="4 static columns, but audio has 13"):
        FrontEnd(FeatureConfig()).fit(table).stream()


def test_lda_keeps_fewer_columns_where_there_are_few_classes() -> None:
    rng = np.random.default_rng(5)
    table = FrameTable.from_utterances(["a"], ["x"], [rng.normal(size=(200, 6)).astype(np.float32)])
    front_end = FrontEnd(FeatureConfig(delta_order=0, lda_dimension=5)).fit(table, np.arange(200) % 3)
    assert front_end.n_features_ == front_end.transform(table).n_features == 2
    arrays, metadata = front_end.to_arrays()
    assert FrontEnd.from_arrays(arrays, metadata).n_features_ == 2


def test_unspliced_columns_are_the_frames_without_context() -> None:
    table = random_table()
    labels = np.arange(table.n_frames) % 5
    spliced = FeatureConfig(normalize="speaker", context=2, lda_dimension=3)
    front_end = FrontEnd(spliced.model_copy(update={"append_static": True})).fit(table, labels)
    frames = front_end.transform(table).frames
    assert front_end.n_unspliced_ == 12
    assert frames.shape[1] == front_end.n_features_ == 15
    np.testing.assert_array_equal(frames[:, :3], FrontEnd(spliced).fit(table, labels).transform(table).frames)
    own = FrontEnd(FeatureConfig(normalize="speaker")).fit(table).transform(table).frames
    np.testing.assert_array_equal(frames[:, 3:], own)


def test_front_end_long_utterances_are_spliced_in_blocks(monkeypatch):
    table, labels = labelled()
    for config in (FeatureConfig(context=3), FeatureConfig(context=3, lda_dimension=3, append_static=True)):
        whole = FrontEnd(config).fit(table, labels).transform(table).frames
        monkeypatch.setattr("asr.features.frontend._MAX_ROWS", 7)
        blocks = FrontEnd(config).fit(table, labels).transform(table).frames
        monkeypatch.undo()
        np.testing.assert_allclose(blocks, whole, atol=1e-4)
