"""Small corpora in every format of `asr prepare`: the same six utterances, and miniatures of public corpora."""

import csv
import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from unicodedata import normalize

import numpy as np
import soundfile

from asr.corpus.sphinx_features import write_sphinx_features

RATE = 8000
TEXTS = {
    ("anna", "a1"): normalize("NFD", "Café, à la carte!"),
    ("anna", "a2"): "L\u2019été «déjà»",
    ("boris", "b1"): "नमस्ते, दुनिया।",
    ("boris", "b2"): "हिन्दी में",
    ("chai", "c1"): "สวัสดี ครับ",
    ("chai", "c2"): "ขอบคุณ",
}
WORDS = {
    "anna_a1": ("café", "à", "la", "carte"),
    "anna_a2": ("l'été", "déjà"),
    "boris_b1": ("नमस्ते", "दुनिया"),
    "boris_b2": ("हिन्दी", "में"),
    "chai_c1": ("สวัสดี", "ครับ"),
    "chai_c2": ("ขอบคุณ",),
}


def write_sound(path: Path, seconds: float = 0.5, **options: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = np.random.default_rng(len(path.name)).normal(size=int(seconds * RATE)) * 0.1
    soundfile.write(path, samples, RATE, **options)
    return path


def recordings(folder: Path) -> list[tuple[Path, str, str]]:
    return [(write_sound(folder / speaker / f"{name}.wav"), speaker, text) for (speaker, name), text in TEXTS.items()]


def textgrid(text: str, encoding: str, path: Path) -> None:
    quoted = text.replace('"', '""')
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "0", "0.5", "<exists>", "1"]
    lines += ['"IntervalTier"', '"said"', "0", "0.5", "2", "0", "0.4", f'"{quoted}"', "0.4", "0.5", '""']
    path.write_text("\n".join(lines) + "\n", encoding=encoding)


def eaf(text: str, path: Path) -> None:
    path.write_text(
        f"""<?xml version="1.0" encoding="UTF-8"?>
<ANNOTATION_DOCUMENT AUTHOR="" DATE="2026-01-01T00:00:00+00:00" FORMAT="3.0" VERSION="3.0"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="EAFv3.0.xsd">
<HEADER MEDIA_FILE="" TIME_UNITS="milliseconds"/>
<TIME_ORDER><TIME_SLOT TIME_SLOT_ID="ts1" TIME_VALUE="0"/><TIME_SLOT TIME_SLOT_ID="ts2" TIME_VALUE="400"/></TIME_ORDER>
<TIER LINGUISTIC_TYPE_REF="t" TIER_ID="said"><ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a1" TIME_SLOT_REF1="ts1"
 TIME_SLOT_REF2="ts2"><ANNOTATION_VALUE>{text}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION></TIER>
<TIER LINGUISTIC_TYPE_REF="g" TIER_ID="gloss" PARENT_REF="said"><ANNOTATION><REF_ANNOTATION ANNOTATION_ID="a2"
 ANNOTATION_REF="a1"><ANNOTATION_VALUE>gloss</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION></TIER>
<LINGUISTIC_TYPE LINGUISTIC_TYPE_ID="t" TIME_ALIGNABLE="true"/>
<LINGUISTIC_TYPE LINGUISTIC_TYPE_ID="g" TIME_ALIGNABLE="false" CONSTRAINTS="Symbolic_Association"/>
</ANNOTATION_DOCUMENT>
""",
        encoding="utf-8",
    )


def write_folder(root: Path) -> Path:
    for audio, _, text in recordings(root):
        audio.with_suffix(".txt").write_text(text, encoding="utf-8")
    return root


def write_table(root: Path) -> Path:
    with (root / "table.csv").open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["File", "Transcript", "Speaker"])
        rows.writerows([audio.relative_to(root), text, speaker] for audio, speaker, text in recordings(root))
    return root / "table.csv"


def write_textgrids(root: Path) -> Path:
    for audio, speaker, text in recordings(root):
        textgrid(text, "utf-16" if speaker == "chai" else "utf-8", audio.with_suffix(".TextGrid"))
    return root


def write_elan(root: Path) -> Path:
    for audio, _, text in recordings(root):
        eaf(text, audio.with_suffix(".eaf"))
    return root


def write_audacity(root: Path) -> Path:
    for audio, _, text in recordings(root):
        audio.with_suffix(".txt").write_text(f"0.000000\t0.400000\t{text}\n", encoding="utf-8")
    return root


def write_csv_labels(root: Path) -> Path:
    for audio, speaker, text in recordings(root):
        with audio.with_suffix(".csv").open("w", encoding="utf-8", newline="") as stream:
            rows = csv.writer(stream)
            rows.writerow(["tier", "speaker", "start", "end", "label", "trust"])
            rows.writerows([["words", speaker, "0.0000", 0.4, text, 0.5], ["phones", speaker, 0, 0.1, "ph", ""]])
    return root


def write_json_labels(root: Path) -> Path:
    for audio, speaker, text in recordings(root):
        tiers = [
            {"tier": tier, "speaker": speaker, "labels": [{"start": 0.0, "end": 0.4, "label": label, "trust": None}]}
            for tier, label in (("words", text), ("phones", "ph"))
        ]
        content = json.dumps({"audio": None, "seconds": 0.5, "tiers": tiers}, indent=1, ensure_ascii=False)
        audio.with_suffix(".json").write_text(content, encoding="utf-8")
    return root


def write_subtitles(root: Path) -> Path:
    for audio, speaker, text in recordings(root):
        if speaker == "anna":
            line = f"WEBVTT\n\n00:00.000 --> 00:00.400\n{text}\n"
            audio.with_suffix(".vtt").write_text(line, encoding="utf-8")
        else:
            audio.with_suffix(".srt").write_text(f"1\n00:00:00,000 --> 00:00:00,400\n{text}\n", encoding="utf-8-sig")
    return root


def write_nemo(root: Path) -> Path:
    rows = [
        {"audio_filepath": str(audio.relative_to(root)), "duration": 0.5, "text": text, "speaker": speaker}
        for audio, speaker, text in recordings(root)
    ]
    (root / "manifest.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return root / "manifest.json"


def write_lhotse(root: Path) -> Path:
    found = recordings(root)
    sources = [
        {"id": audio.stem, "sources": [{"type": "file", "channels": [0], "source": str(audio)}], "duration": 0.5}
        for audio, _, _ in found
    ]
    said = [
        {"id": audio.stem, "recording_id": audio.stem, "start": 0.0, "duration": 0.4, "text": text, "speaker": speaker}
        for audio, speaker, text in found
    ]
    (root / "recordings.jsonl").write_text("".join(json.dumps(row) + "\n" for row in sources))
    content = "".join(json.dumps(row) + "\n" for row in said).encode()
    (root / "supervisions.jsonl.gz").write_bytes(gzip.compress(content, mtime=0))
    return root


def write_lhotse_cuts(root: Path) -> Path:
    rows = []
    for audio, speaker, text in recordings(root):
        recording = {"id": audio.stem, "sources": [{"type": "file", "channels": [0], "source": str(audio)}]}
        said = [{"id": audio.stem, "start": 0.1, "duration": 0.3, "text": text, "speaker": speaker}]
        rows.append({"id": "cut", "start": 0.0, "duration": 0.5, "supervisions": said, "recording": recording})
    (root / "cuts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return root / "cuts.jsonl"


def write_htk(root: Path) -> Path:
    labels, lines = ["#!MLF!#"], []
    for audio, _, _ in recordings(root):
        labels += [f'"*/{audio.stem}.lab"', *WORDS[f"{audio.parent.name}_{audio.stem}"], "."]
        lines.append(f"{audio.relative_to(root)} mfc/{audio.stem}.mfc")
    (root / "words.mlf").write_text("\n".join(labels) + "\n", encoding="utf-8")
    (root / "all.scp").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return root / "all.scp"


def write_sphinx(root: Path) -> Path:
    found = recordings(root / "wav")
    (root / "etc").mkdir()
    ids = "".join(f"{audio.parent.name}/{audio.stem}\n" for audio, _, _ in found)
    (root / "etc" / "all.fileids").write_text(ids)
    words = {audio.stem: " ".join(WORDS[f"{audio.parent.name}_{audio.stem}"]) for audio, _, _ in found}
    said = "".join(f"<s> {text} </s> ({name})\n" for name, text in words.items())
    (root / "etc" / "all.transcription").write_text(said, encoding="utf-8")
    return root / "etc" / "all.fileids"


def write_sphinx_features_only(root: Path) -> Path:
    source = write_sphinx(root)
    for audio in sorted((root / "wav").rglob("*.wav")):
        features = root / "feat" / audio.parent.name / f"{audio.stem}.mfc"
        features.parent.mkdir(parents=True, exist_ok=True)
        write_sphinx_features(features, np.random.default_rng(0).normal(size=(50, 13)))
    shutil.rmtree(root / "wav")
    return source


WRITERS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "folder": ("folder", write_folder),
    "table": ("table", write_table),
    "textgrid": ("textgrid", write_textgrids),
    "elan": ("elan", write_elan),
    "audacity": ("audacity", write_audacity),
    "csv": ("csv", write_csv_labels),
    "json": ("json", write_json_labels),
    "subtitles": ("subtitles", write_subtitles),
    "nemo": ("nemo", write_nemo),
    "lhotse": ("lhotse", write_lhotse),
    "lhotse-cuts": ("lhotse", write_lhotse_cuts),
    "htk": ("htk", write_htk),
    "sphinx": ("sphinx", write_sphinx),
    "sphinx-features": ("sphinx", write_sphinx_features_only),
}


def write_timit(root: Path) -> None:
    for part, speaker in (("TRAIN", "FCJF0"), ("TEST", "MDAB0")):
        folder = root / part / "DR1" / speaker
        write_sound(folder / "SX37.WAV", format="WAV")
        (folder / "SX37.TXT").write_text("0 4000 She had your dark suit.\n")
        (folder / "SX37.PHN").write_text("0 4000 h#\n")


def write_librispeech(root: Path) -> None:
    for part, speaker in (("train-clean-100", "103"), ("test-clean", "61")):
        folder = root / part / speaker / "1240"
        write_sound(folder / f"{speaker}-1240-0000.flac")
        (folder / f"{speaker}-1240.trans.txt").write_text(f"{speaker}-1240-0000 CHAPTER ONE\n")


def write_common_voice(root: Path) -> None:
    for part in ("train", "test"):
        write_sound(root / "clips" / f"{part}.mp3", format="MP3")
        row = f'{part}{"0" * 100}\t{part}.mp3\tEr sagte: "Ja\t2\n'
        (root / f"{part}.tsv").write_text(f"client_id\tpath\tsentence\tup_votes\n{row}")


def write_speech_commands(root: Path) -> None:
    for speaker, word in (("0a7c", "yes"), ("1b2d", "no")):
        write_sound(root / word / f"{speaker}_nohash_0.wav")
    write_sound(root / "_background_noise_" / "pink.wav")
    (root / "testing_list.txt").write_text("no/1b2d_nohash_0.wav\n")
    (root / "validation_list.txt").write_text("")


def write_tidigits(root: Path) -> None:
    write_sound(root / "train" / "man" / "ae" / "1ozb.wav")
    write_sound(root / "test" / "woman" / "ac" / "9a.wav")


def write_ljspeech(root: Path) -> None:
    write_sound(root / "wavs" / "LJ001-0001.wav")
    (root / "metadata.csv").write_text('LJ001-0001|In 1455 "he|In fourteen fifty-five "he\nbroken\n')


def write_vctk(root: Path) -> None:
    write_sound(root / "wav48" / "p225" / "p225_001_mic1.flac")
    write_sound(root / "wav48" / "p225" / "p225_001_mic2.flac")
    (root / "txt" / "p225").mkdir(parents=True)
    (root / "txt" / "p225" / "p225_001.txt").write_text("Please call Stella.\n")


def write_voxforge(root: Path) -> None:
    for folder in ("anna-20110503-abc", "anonymous-20110503-xyz"):
        write_sound(root / folder / "wav" / "a0001.wav")
        (root / folder / "etc").mkdir()
        (root / folder / "etc" / "PROMPTS").write_text(f"{folder}/mfc/a0001 AUTHOR OF THE DANGER\n")


CORPORA: dict[str, tuple[Callable[[Path], None], dict[str, tuple[str, str]], list[str]]] = {
    "timit": (
        write_timit,
        {"train": ("FCJF0_SX37", "she had your dark suit"), "test": ("MDAB0_SX37", "she had your dark suit")},
        [],
    ),
    "librispeech": (
        write_librispeech,
        {"train-clean-100": ("103-1240-0000", "chapter one"), "test-clean": ("61-1240-0000", "chapter one")},
        [],
    ),
    "common-voice": (
        write_common_voice,
        {"train": ("train0000000_train", "er sagte ja"), "test": ("test00000000_test", "er sagte ja")},
        [],
    ),
    "speech-commands": (
        write_speech_commands, {"train": ("0a7c_yes_0", "yes"), "test": ("1b2d_no_0", "no")}, ["no-transcript"]
    ),
    "tidigits": (write_tidigits, {"train": ("ae_1ozb", "one oh zero"), "test": ("ac_9a", "nine")}, []),
    "ljspeech": (write_ljspeech, {".": ("LJ001-0001", "in fourteen fifty five he")}, ["bad-line"]),
    "vctk": (write_vctk, {".": ("p225_001", "please call stella")}, ["other-channel"]),
    "voxforge": (write_voxforge, {".": ("anna-20110503-abc_a0001", "author of the danger")}, []),
}  # fmt: skip
