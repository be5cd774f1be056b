"""Faults of lists and of segments: the only finding, and how a clean corpus gets it."""

from tests.validation.corpora import Corpus, Spoil


def joined(spoil: Spoil) -> Spoil:
    """Spoil a corpus of segments."""

    def change(corpus: Corpus) -> None:
        corpus.join()
        spoil(corpus)

    return change


def replace_bytes(corpus: Corpus, name: str, old: bytes, new: bytes) -> None:
    path = corpus.folder / name
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))


def master_labels(corpus: Corpus) -> list[str]:
    """The transcripts as a master label file."""
    lines = ["#!MLF!#"]
    for name, *words in (line.split() for line in corpus.lines("train/text")):
        lines += [f'"*/{name}.lab"', *words, "."]
    return lines


LISTS: dict[str, Spoil] = {
    "error not-utf8 train/text:2: 0xff": lambda c: replace_bytes(c, "train/text", b"train0-003 ", b"train0-003 \xff"),
    "error zero-byte train/text:2: null byte": lambda c: replace_bytes(
        c, "train/text", b"train0-003 ", b"train0-003 \0"
    ),
    "error key-alone train/utt2spk:4: no value": lambda c: c.set_line("train/utt2spk", 4, c.names[3]),
    "error duplicate-id train/utt2spk:6: line 5": lambda c: c.set_line(
        "train/utt2spk", 5, c.lines("train/utt2spk")[4] + "\n" + c.lines("train/utt2spk")[4]
    ),
    "warning unsorted train/text:9: LC_ALL=C": lambda c: c.write(
        "train/text", [*c.lines("train/text")[1:], c.lines("train/text")[0]]
    ),
    "error malformed train/utt2spk:2: one speaker": lambda c: c.set_line(
        "train/utt2spk", 2, c.lines("train/utt2spk")[1] + " train1"
    ),
    "error missing-list train/utt2spk: UTTERANCE SPEAKER": lambda c: (c.folder / "train/utt2spk").unlink(),
    "error missing-list train/text: UTTERANCE WORD": lambda c: (c.folder / "train/text").unlink(),
    "warning empty-list train/spk2gender: the list is empty": lambda c: c.write("train/spk2gender", []),
    "error bad-gender train/spk2gender:1: 'male'": lambda c: c.set_line("train/spk2gender", 1, "train0 male"),
    "warning unknown-speaker train/spk2gender:4: 'train9'": lambda c: c.append("train/spk2gender", "train9 m"),
    "error bad-name train/wav.scp:3: slash": lambda c: [
        c.change(f"train/{name}", 3, c.lines("train/text")[2].split()[0], "train0/000")
        for name in ("utt2spk", "wav.scp", "text")
    ],
    "error bad-name train/utt2spk:1: slash": lambda c: [
        c.write("train/utt2spk", [line.replace(" train0", " train0/x") for line in c.lines("train/utt2spk")]),
        c.set_line("train/spk2gender", 1, "train0/x m"),
    ],
    "error no-transcript train/wav.scp:5: but not in text": lambda c: c.set_line("train/text", 5, None),
    "error no-audio train/text:5: but not in wav.scp": lambda c: c.set_line("train/wav.scp", 5, None),
    "error no-speaker train/wav.scp:5: but not in utt2spk": lambda c: c.set_line("train/utt2spk", 5, None),
    "warning not-used train/utt2spk:10: utt2spk only": lambda c: c.append("train/utt2spk", "train9-000 train2"),
    "error pipe train/wav.scp:5: never run": lambda c: c.set_line("train/wav.scp", 5, f"{c.names[4]} sph2pipe x.sph |"),
    "error malformed train/text:2: master label file": lambda c: c.write("train/text", ["", *master_labels(c)]),
    "error malformed train/wav.scp:1: HTK": lambda c: c.write(
        "train/wav.scp", [line.split()[1] for line in c.lines("train/wav.scp")]
    ),
    "error malformed train/feats.scp:1: into an archive": lambda c: c.write(
        "train/feats.scp", [f"mfcc/{name}.mfc" for name in c.names]
    ),
    "error key-alone train/spk2gender:1: 3 of 3 lines": lambda c: c.write(
        "train/spk2gender", [line.split()[0] for line in c.lines("train/spk2gender")]
    ),
    "error bad-name train/wav.scp:1: 9 of 9 lines have": lambda c: [
        c.write(f"train/{name}", [f"a/{line}" for line in c.lines(f"train/{name}")])
        for name in ("utt2spk", "wav.scp", "text")
    ],
}

SEGMENTS: dict[str, Spoil] = {
    "error bad-segment train/segments:2: is not a segment": joined(
        lambda c: c.set_line("train/segments", 2, f"{c.names[1]} tape 1.0")
    ),
    "error bad-segment train/segments:2: START < END": joined(
        lambda c: c.set_line("train/segments", 2, f"{c.names[1]} tape 1.5 1.5")
    ),
    "error bad-segment train/segments:2: 900": joined(
        lambda c: c.set_line("train/segments", 2, f"{c.names[1]} tape 900 902")
    ),
    "error no-audio train/segments:2: 'tape-2'": joined(lambda c: c.change("train/segments", 2, " tape ", " tape-2 ")),
    "warning overlap train/segments:3: by 0.30 s": joined(
        lambda c: c.set_line(
            "train/segments",
            2,
            f"{c.lines('train/segments')[1].rsplit(' ', 1)[0]} {float(c.lines('train/segments')[1].split()[3]) + 0.3}",
        )
    ),
    "warning not-used train/wav.scp:2: no segment": joined(
        lambda c: c.write("train/wav.scp", [*c.lines("train/wav.scp"), "tape-2 audio/tape.wav"])
    ),
    "error malformed train/wav.scp:1: list of files": joined(
        lambda c: c.write("train/wav.scp", [f"audio/tape{number}.wav" for number in range(3)])
    ),
}
