"""The table of frames: access, parts, mapping, and files."""

import contextlib
import re
import warnings

import numpy as np
import pytest

from asr.features.frame_table import FrameTable
from asr.util.errors import FeatureError

PARTS = [np.full((n, 2), n, np.float32) for n in (3, 1, 4)]


@pytest.fixture
def table() -> FrameTable:
    return FrameTable.from_utterances(["a", "b", "c"], ["s", "t", "s"], PARTS)


def test_an_utterance_is_a_view_found_by_number_or_id(table):
    assert len(table) == 3 and table.n_frames == 8 and table.n_features == 2
    for number, key in enumerate(table.ids):
        np.testing.assert_array_equal(table.utterance(key), PARTS[number])
        assert np.shares_memory(table.utterance(number), table.frames)
    with pytest.raises(FeatureError, match="'z' is not in this table"):
        table.utterance("z")


def test_a_subset_comes_in_the_order_asked_for(table):
    part = table.subset(["c", "a"])
    assert part.ids == ("c", "a") and part.speakers == ("s", "s")
    np.testing.assert_array_equal(part.frames, np.concatenate([PARTS[2], PARTS[0]]))
    with pytest.raises(FeatureError, match="'z'"):
        table.subset(["a", "z"])


def test_utterances_alone_are_of_speakers_of_their_own(table):
    apart = table.each_alone(["c"])
    assert apart.speakers == ("s", "t", "c")
    assert apart.ids == table.ids and apart.frames is table.frames


def test_map_works_utterance_by_utterance_and_keeps_the_frames(table):
    mapped = table.map(lambda frames: np.repeat(frames - frames.mean(), 2, axis=1))
    assert mapped.n_features == 4 and not mapped.frames.any() and mapped.ids == table.ids
    with pytest.raises(FeatureError, match="Expected the same number"):
        table.map(lambda frames: frames[1:])


@pytest.mark.parametrize("mmap", [True, False])
def test_what_is_saved_is_loaded_and_can_be_saved_over(table, tmp_path, mmap):
    for saved in (table, table.subset(["b"])):
        saved.save(tmp_path / "table")
        loaded = FrameTable.load(tmp_path / "table", mmap=mmap)
        assert (loaded.ids, loaded.speakers) == (saved.ids, saved.speakers)
        assert isinstance(loaded.frames, np.memmap) == mmap
        np.testing.assert_array_equal(loaded.frames, saved.frames)
        np.testing.assert_array_equal(loaded.offsets, saved.offsets)


def test_damaged_files_are_refused(table, tmp_path):
    with pytest.raises(FeatureError, match="not a complete frame table"):
        FrameTable.load(tmp_path)
    table.save(tmp_path)
    whole = (tmp_path / "frames.npy").read_bytes()
    for damaged in (whole[:-5], whole[:20], b"", b"\x80\x04K\x01."):
        (tmp_path / "frames.npy").write_bytes(damaged)
        for mmap in (True, False):
            with pytest.raises(FeatureError):
                FrameTable.load(tmp_path, mmap=mmap)
    (tmp_path / "frames.npy").write_bytes(whole)
    (tmp_path / "index.json").write_text("[1]")
    with pytest.raises(FeatureError, match="not a complete frame table"):
        FrameTable.load(tmp_path)


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("name", ["frames.npy", "index.json"])
def test_any_damage_of_header_or_index_is_refused_or_harmless(table, tmp_path, name, mmap):
    table.save(tmp_path)
    whole = (tmp_path / name).read_bytes()
    for place in range(min(128, len(whole))):
        for value in b"\0\xff(9-'\"[{":
            (tmp_path / name).write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
            with contextlib.suppress(FeatureError), warnings.catch_warnings(action="ignore"):
                assert FrameTable.load(tmp_path, mmap=mmap).n_frames == 8


@pytest.mark.parametrize(
    "index",
    [
        "[" * 100_000,
        '{"ids": "abc", "speakers": [1, 2, 3], "offsets": [0, 3, 4, 8]}',
        '{"ids": "abc", "speakers": "sts", "offsets": 7}',
        '{"ids": "abc", "speakers": "sts", "offsets": [0, 3, 4, 99999999999999999999]}',
    ],
)
def test_an_index_of_other_things_is_refused(table, tmp_path, index):
    table.save(tmp_path)
    (tmp_path / "index.json").write_text(index)
    with pytest.raises(FeatureError, match=re.escape(str(tmp_path))):
        FrameTable.load(tmp_path)


def test_an_archive_in_place_of_the_frames_is_refused(table, tmp_path):
    table.save(tmp_path)
    with (tmp_path / "frames.npy").open("wb") as file:
        np.savez(file, frames=table.frames)
    with pytest.raises(FeatureError, match=r"index\.json"):
        FrameTable.load(tmp_path)


def test_a_header_that_promises_more_than_the_file_holds_takes_no_memory(table, tmp_path):
    table.save(tmp_path)
    content = (tmp_path / "frames.npy").read_bytes()
    (tmp_path / "frames.npy").write_bytes(content.replace(b"(8, 2), ", b"(8000000000000, 2), ")[:-1])
    for mmap in (True, False):
        with pytest.raises(FeatureError, match="not a complete frame table"):
            FrameTable.load(tmp_path, mmap=mmap)


def test_parts_that_do_not_fit_together_are_refused(table):
    wrong = [
        (table.ids, table.speakers, table.frames.astype(np.float64), table.offsets),
        (table.ids, table.speakers, table.frames, table.offsets[:-1]),
        (table.ids, table.speakers, table.frames, table.offsets[[0, 2, 1, 3]]),
        (("a", "a", "b"), table.speakers, table.frames, table.offsets),
        (table.ids, ("s",), table.frames, table.offsets),
    ]
    for parts in wrong:
        with pytest.raises(FeatureError):
            FrameTable(*parts)
    with pytest.raises(FeatureError, match="differ"):
        FrameTable.from_utterances("ab", "st", [PARTS[0], PARTS[0][:, :1]])
