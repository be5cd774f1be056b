"""Files of labels for other programs, read again by standard libraries and by `asr prepare`."""

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import soundfile
from praatio import textgrid
from praatio.data_classes.interval_tier import IntervalTier
from praatio.data_classes.textgrid import Textgrid

from asr.alignment.frame_times import FrameTimes
from asr.alignment.label_files import LABEL_FORMATS, label_formats, source_files, write_label_files
from asr.alignment.recording_labels import AlignedUtterance
from asr.corpus.data_directory import Utterance, read_data_directory
from asr.corpus.formats.elan import open_elan
from asr.decode.path_segments import Segment
from asr.util.errors import ConfigError

ELAN = """<?xml version="1.0" encoding="UTF-8"?>
<ANNOTATION_DOCUMENT AUTHOR="Ana" DATE="2020-01-01T00:00:00+00:00" FORMAT="2.8" VERSION="2.8">
<HEADER MEDIA_FILE="" TIME_UNITS="milliseconds"><PROPERTY NAME="note">n</PROPERTY></HEADER>
<TIME_ORDER><TIME_SLOT TIME_SLOT_ID="ts7" TIME_VALUE="500"/><TIME_SLOT TIME_SLOT_ID="ts9" TIME_VALUE="1500"/>
</TIME_ORDER>
<TIER LINGUISTIC_TYPE_REF="ref" PARTICIPANT="Bé" TIER_ID="text"><ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a4"
 TIME_SLOT_REF1="ts7" TIME_SLOT_REF2="ts9"><ANNOTATION_VALUE>één</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
</TIER>
<TIER LINGUISTIC_TYPE_REF="dep" PARENT_REF="text" TIER_ID="gloss"><ANNOTATION><REF_ANNOTATION ANNOTATION_ID="a5"
 ANNOTATION_REF="a4"><ANNOTATION_VALUE>one</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION></TIER>
<LINGUISTIC_TYPE LINGUISTIC_TYPE_ID="ref" TIME_ALIGNABLE="true" CONTROLLED_VOCABULARY_REF="cv"/>
<LINGUISTIC_TYPE LINGUISTIC_TYPE_ID="dep" TIME_ALIGNABLE="false" CONSTRAINTS="Symbolic_Association"/>
<CONSTRAINT STEREOTYPE="Symbolic_Association" DESCRIPTION="1-1"/>
<CONTROLLED_VOCABULARY CV_ID="cv" DESCRIPTION=""><CV_ENTRY DESCRIPTION="">v</CV_ENTRY></CONTROLLED_VOCABULARY>
</ANNOTATION_DOCUMENT>
"""


def record(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, np.full(40_000, 0.1), 8000)
    return path


def aligned(name: str, speaker: str, audio: Path, start: float, word: str = "één") -> AlignedUtterance:
    """An utterance of a second with one word of two phones."""
    words, phones = [Segment(word, 10, 50)], [Segment("é", 10, 30), Segment("n", 30, 50)]
    utterance = Utterance(name, speaker, (word,), audio, start, start + 1.0)
    return AlignedUtterance(utterance, words, phones, FrameTimes(0.01, 0.025, 98, 1.0), 0.8, [0.75], [0.5, 1.0])


def prepared(asr, name: str, source: Path, data: Path) -> list[tuple[str, tuple[str, ...] | None]]:
    status, _, err = asr("prepare", name, source, data, "--audio", source.parent)
    assert (status, err) == (0, "")
    return [(one.speaker, one.words) for one in read_data_directory(data).utterances]


def values(path: Path) -> list[tuple[str, float, float, str]]:
    """Tier, start, end and label of every label of a file."""
    if path.suffix == ".csv":
        rows = list(csv.DictReader(path.read_text("utf-8").splitlines()))
        assert [row["trust"] for row in rows] == ["0.7500", "0.5000", "1.0000"] * 2
        return [
            (f"{row['speaker']} - {row['tier']}", float(row["start"]), float(row["end"]), row["label"]) for row in rows
        ]
    if path.suffix == ".json":
        tiers = json.loads(path.read_text(encoding="utf-8"))["tiers"]
        return [
            (f"{tier['speaker']} - {tier['tier']}", one["start"], one["end"], one["label"])
            for tier in tiers
            for one in tier["labels"]
        ]
    if path.suffix == ".eaf":
        document = open_elan(path)
        return [
            (name, start / 1000, end / 1000, text)
            for name in document.tiers
            for start, end, text in document.get_annotation_data_for_tier(name)
        ]
    grid = textgrid.openTextgrid(str(path), includeEmptyIntervals=False, reportingMode="error")
    return [(name, *entry) for name in grid.tierNames for entry in grid.getTier(name).entries]


@pytest.mark.parametrize("name", ["textgrid", "elan", "csv", "json"])
def test_labels_of_two_speakers_are_read_again(tmp_path, name):
    audio = record(tmp_path / "a b" / "täl k.wav")
    ones = [aligned("b", "B", audio, 2.0, "two"), aligned("a", "A", audio, 0.5)]
    write_label_files(tmp_path, [name], ones)
    found = values(tmp_path / name / f"täl k{LABEL_FORMATS[name][0]}")
    labels = [one for one in found if not one[0].endswith("trust")]
    assert [(tier, label) for tier, _, _, label in labels] == [
        ("A - words", "één"), ("A - phones", "é"), ("A - phones", "n"),
        ("B - words", "two"), ("B - phones", "é"), ("B - phones", "n"),
    ]  # fmt: skip
    for (_, start, end, _), (right_start, right_end) in zip(
        labels, [(0.6075, 1.0075), (0.6075, 0.8075), (0.8075, 1.0075)] * 2, strict=True
    ):
        assert (start % 1.5, end % 1.5) == pytest.approx((right_start % 1.5, right_end % 1.5), abs=2e-3)
    if name in ("textgrid", "elan"):
        assert [one[3] for one in found if one[0] == "B - phones trust"] == ["0.50", "1.00"]


@pytest.mark.parametrize("calibrated", [None, True, False])
def test_confidences_are_marked_as_uncalibrated(tmp_path, calibrated):
    """Trusts of alignments (None) and calibrated confidences have the usual tier."""
    one = aligned("a", "A", record(tmp_path / "talk.wav"), 0.5)._replace(calibrated=calibrated)
    write_label_files(tmp_path, ["textgrid", "elan", "csv", "json"], [one])
    trusts = "words trust (uncalibrated)" if calibrated is False else "words trust"
    for path in (tmp_path / "textgrid" / "talk.TextGrid", tmp_path / "elan" / "talk.eaf"):
        assert trusts in {tier for tier, *_ in values(path)}
    assert json.loads((tmp_path / "json" / "talk.json").read_text("utf-8")).get("calibrated") is calibrated
    rows = csv.DictReader((tmp_path / "csv" / "talk.csv").read_text("utf-8").splitlines())
    assert {row.get("calibrated") for row in rows} == {None if calibrated is None else str(calibrated).lower()}


def test_labels_of_audacity_are_words_with_their_speaker(tmp_path):
    audio = record(tmp_path / "talk.wav")
    write_label_files(tmp_path, ["audacity"], [aligned("b", "B", audio, 2.0), aligned("a", "A", audio, 0.5)])
    rows = [line.split("\t") for line in (tmp_path / "audacity" / "talk.txt").read_text("utf-8").splitlines()]
    assert [row[2] for row in rows] == ["A: één", "B: één"]


@pytest.mark.parametrize("name", ["textgrid", "elan", "csv", "json"])
def test_corrected_words_come_back(tmp_path, asr, name):
    """Words without other tiers are joined to utterances; tiers of phones and trusts are not read."""
    audio = record(tmp_path / "talk.wav")
    write_label_files(tmp_path, [name], [aligned("a", "A", audio, 0.5), aligned("b", "A", audio, 1.1)])
    (path,) = (tmp_path / name).iterdir()
    path.write_text(path.read_text("utf-8").replace("één", "uno", 1), encoding="utf-8")
    (words,) = [words for _, words in prepared(asr, name, tmp_path / name, tmp_path / "data")]
    assert words == ("uno", "één")


def test_elan_files_keep_their_tiers(tmp_path, asr):
    audio = record(tmp_path / "in" / "talk.wav")
    source = tmp_path / "in" / "talk.eaf"
    source.write_text(ELAN, encoding="utf-8")
    assert prepared(asr, "elan", tmp_path / "in", tmp_path / "data") == [("Bé", ("één",))]
    (name,) = sources = source_files(tmp_path / "data")
    write_label_files(tmp_path / "out", ["elan", "textgrid"], [aligned(name, "Bé", audio, 0.5)], lambda: sources)
    before, after = ElementTree.fromstring(ELAN), ElementTree.parse(tmp_path / "out" / "elan" / "talk.eaf").getroot()
    assert before.attrib == after.attrib
    added = []
    kept = list(before)
    for one in after:
        if kept and one.tag == kept[0].tag and one.attrib == kept[0].attrib:
            old = kept.pop(0)
            texts = [child.text for child in old.iter() if (child.text or "").strip()]
            assert [child.text for child in one.iter() if (child.text or "").strip()] == texts
            assert len(list(one.iter())) >= len(list(old.iter()))
        else:
            added.append(one.get("TIER_ID") or one.tag)
    assert not kept
    assert added == ["words", "words trust", "phones", "phones trust", "LINGUISTIC_TYPE"]
    audio.rename(tmp_path / "out" / "elan" / "talk.wav")
    assert prepared(asr, "elan", tmp_path / "out" / "elan", tmp_path / "again") == [("Bé", ("één",))]


def test_textgrids_keep_their_tiers(tmp_path, asr):
    audio = record(tmp_path / "in" / "talk.wav")
    grid = Textgrid(0.0, 4.9)  # shorter than the recording
    grid.addTier(IntervalTier("words", [(0.6, 1.0, "één")], 0.0, 4.9))
    grid.addTier(IntervalTier("notes", [(2.0, 3.0, "laughs")], 0.0, 4.9))
    grid.save(str(tmp_path / "in" / "talk.TextGrid"), "short_textgrid", includeBlankSpaces=True)
    assert asr("prepare", "textgrid", tmp_path / "in", tmp_path / "data", "--tiers", "words")[0] == 0
    (name,) = sources = source_files(tmp_path / "data")
    write_label_files(tmp_path / "out", ["textgrid"], [aligned(name, "A", audio, 0.5)], lambda: sources)
    found = values(tmp_path / "out" / "textgrid" / "talk.TextGrid")
    assert found[:2] == [("words", 0.6, 1.0, "één"), ("notes", 2.0, 3.0, "laughs")]
    assert {tier for tier, *_ in found[2:]} == {
        "words (aligned)", "words (aligned) trust", "phones", "phones trust"
    }  # fmt: skip


def test_an_unknown_format_is_refused():
    assert label_formats("elan, csv") == label_formats(["elan", "csv"]) == ("elan", "csv")
    with pytest.raises(ConfigError, match="praat"):
        label_formats("praat")
