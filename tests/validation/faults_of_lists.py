"""Faults of lists and of segments, one a clean corpus: how to make each, and what is told of it."""

from tests.validation.corpora import Corpus, Spoil

Expected = tuple[str, str, str, int | None, str]  # severity, code, file, line, a part of the message


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


LISTS: dict[str, tuple[Spoil, Expected]] = {
    "not UTF-8": (
        lambda c: replace_bytes(c, "train/text", b"train0-003 ", b"train0-003 \xff"),
        ("error", "not-utf8", "train/text", 2, "0xff"),
    ),
    "a zero byte": (
        lambda c: replace_bytes(c, "train/text", b"train0-003 ", b"train0-003 \0"),
        ("error", "zero-byte", "train/text", 2, "zero byte"),
    ),
    "a key alone": (
        lambda c: c.set_line("train/utt2spk", 4, c.names[3]),
        ("error", "key-alone", "train/utt2spk", 4, "stands alone"),
    ),
    "a key twice": (
        lambda c: c.set_line("train/utt2spk", 5, c.lines("train/utt2spk")[4] + "\n" + c.lines("train/utt2spk")[4]),
        ("error", "duplicate-id", "train/utt2spk", 6, "already occurs on line 5"),
    ),
    "unsorted": (
        lambda c: c.write("train/text", [*c.lines("train/text")[1:], c.lines("train/text")[0]]),
        ("warning", "unsorted", "train/text", 9, "LC_ALL=C"),
    ),
    "two speakers on a line": (
        lambda c: c.set_line("train/utt2spk", 2, c.lines("train/utt2spk")[1] + " train1"),
        ("error", "malformed", "train/utt2spk", 2, "one speaker"),
    ),
    "no utt2spk": (
        lambda c: (c.folder / "train/utt2spk").unlink(),
        ("error", "missing-list", "train/utt2spk", None, "who said"),
    ),
    "no text": (
        lambda c: (c.folder / "train/text").unlink(),
        ("error", "missing-list", "train/text", None, "what was said"),
    ),
    "an empty list": (
        lambda c: c.write("train/spk2gender", []),
        ("warning", "empty-list", "train/spk2gender", None, "no lines"),
    ),
    "a gender that is none": (
        lambda c: c.set_line("train/spk2gender", 1, "train0 male"),
        ("error", "bad-gender", "train/spk2gender", 1, "'male'"),
    ),
    "a gender of nobody": (
        lambda c: c.append("train/spk2gender", "train9 m"),
        ("warning", "unknown-speaker", "train/spk2gender", 4, "'train9'"),
    ),
    "a name with a slash": (
        lambda c: [
            c.change(f"train/{name}", 3, c.lines("train/text")[2].split()[0], "train0/000")
            for name in ("utt2spk", "wav.scp", "text")
        ],
        ("error", "bad-name", "train/wav.scp", 3, "slash"),
    ),
    "a speaker with a slash": (
        lambda c: [
            c.write("train/utt2spk", [line.replace(" train0", " train0/x") for line in c.lines("train/utt2spk")]),
            c.set_line("train/spk2gender", 1, "train0/x m"),
        ],
        ("error", "bad-name", "train/utt2spk", 1, "slash"),
    ),
    "no transcript": (
        lambda c: c.set_line("train/text", 5, None),
        ("error", "no-transcript", "train/wav.scp", 5, "is in wav.scp and utt2spk, but not in text"),
    ),
    "no audio": (
        lambda c: c.set_line("train/wav.scp", 5, None),
        ("error", "no-audio", "train/text", 5, "is in text and utt2spk, but not in wav.scp"),
    ),
    "no speaker": (
        lambda c: c.set_line("train/utt2spk", 5, None),
        ("error", "no-speaker", "train/wav.scp", 5, "is in wav.scp and text, but not in utt2spk"),
    ),
    "a speaker of nothing": (
        lambda c: c.append("train/utt2spk", "train9-000 train2"),
        ("warning", "not-used", "train/utt2spk", 10, "is in utt2spk, but not in wav.scp and text"),
    ),
    "a pipe": (
        lambda c: c.set_line("train/wav.scp", 5, f"{c.names[4]} sph2pipe x.sph |"),
        ("error", "pipe", "train/wav.scp", 5, "never run"),
    ),
    "a master label file for the transcripts": (
        lambda c: c.write("train/text", ["", *master_labels(c)]),
        ("error", "malformed", "train/text", 2, "is a master label file of HTK"),
    ),
    "a list of files for the recordings": (
        lambda c: c.write("train/wav.scp", [line.split()[1] for line in c.lines("train/wav.scp")]),
        ("error", "malformed", "train/wav.scp", 1, "9 of 9 lines are a path alone"),
    ),
    "a list of files for the features": (
        lambda c: c.write("train/feats.scp", [f"mfcc/{name}.mfc" for name in c.names]),
        ("error", "malformed", "train/feats.scp", 1, "have to be put into an archive"),
    ),
    "no value on any line": (
        lambda c: c.write("train/spk2gender", [line.split()[0] for line in c.lines("train/spk2gender")]),
        ("error", "key-alone", "train/spk2gender", 1, "3 of 3 lines have the same fault"),
    ),
    "slashes in all names": (
        lambda c: [
            c.write(f"train/{name}", [f"a/{line}" for line in c.lines(f"train/{name}")])
            for name in ("utt2spk", "wav.scp", "text")
        ],
        ("error", "bad-name", "train/wav.scp", 1, "9 of 9 lines have the same fault"),
    ),
}

SEGMENTS: dict[str, tuple[Spoil, Expected]] = {
    "a segment that is none": (
        joined(lambda c: c.set_line("train/segments", 2, f"{c.names[1]} tape 1.0")),
        ("error", "bad-segment", "train/segments", 2, "is not a segment"),
    ),
    "a segment of no length": (
        joined(lambda c: c.set_line("train/segments", 2, f"{c.names[1]} tape 1.5 1.5")),
        ("error", "bad-segment", "train/segments", 2, "start < end"),
    ),
    "a segment outside": (
        joined(lambda c: c.set_line("train/segments", 2, f"{c.names[1]} tape 900 902")),
        ("error", "bad-segment", "train/segments", 2, "does not lie in the recording"),
    ),
    "a segment of no recording": (
        joined(lambda c: c.change("train/segments", 2, " tape ", " tape-2 ")),
        ("error", "no-audio", "train/segments", 2, "'tape-2' is not in wav.scp"),
    ),
    "segments that overlap": (
        joined(
            lambda c: c.set_line(
                "train/segments",
                2,
                f"{c.lines('train/segments')[1].rsplit(' ', 1)[0]} "
                f"{float(c.lines('train/segments')[1].split()[3]) + 0.3}",
            )
        ),
        ("warning", "overlap", "train/segments", 3, "by 0.30 s"),
    ),
    "a recording without segments": (
        joined(lambda c: c.write("train/wav.scp", [*c.lines("train/wav.scp"), "tape-2 audio/tape.wav"])),
        ("warning", "not-used", "train/wav.scp", 2, "no segment"),
    ),
    "a list of files for the recordings of segments": (
        joined(lambda c: c.write("train/wav.scp", [f"audio/tape{number}.wav" for number in range(3)])),
        ("error", "malformed", "train/wav.scp", 1, "is a list of files"),
    ),
}
