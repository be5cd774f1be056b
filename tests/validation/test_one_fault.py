"""Every kind of fault, each by itself in a clean corpus, is named with file and line, and nothing else is."""

import numpy as np
import pytest
import soundfile
import soxr

from tests.toy_corpus import RATE
from tests.validation.corpora import Corpus, Spoil

Expected = tuple[str, str, str, int | None, str]  # severity, code, file, line, a part of the message


def joined(spoil: Spoil) -> Spoil:
    """Spoil a corpus of segments."""

    def change(corpus: Corpus) -> None:
        corpus.join()
        spoil(corpus)

    return change


def without_words(corpus: Corpus, line: int) -> None:
    corpus.set_line("train/text", line, corpus.names[line - 1])


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


def write_stereo(corpus: Corpus, line: int) -> None:
    samples = corpus.samples(line)
    corpus.record(line, np.stack([samples, -samples], axis=1))


def noise_like(samples: np.ndarray) -> np.ndarray:
    return np.random.default_rng(0).normal(0, samples.std(), len(samples))


def noise(corpus: Corpus, clips: list[str]) -> None:
    (corpus.folder / "noise").mkdir()
    corpus.write("noise/noise.scp", clips)
    corpus.settings(f'hybrid = {{noise = {{directory = "{corpus.folder}/noise"}}}}')


def in_lower_case(corpus: Corpus) -> None:
    """The transcripts of three lines."""
    for line, (name, words) in enumerate((line.split(maxsplit=1) for line in corpus.lines("train/text")[:3]), 1):
        corpus.set_line("train/text", line, f"{name} {words.lower()}")


def silent_clip(corpus: Corpus) -> None:
    noise(corpus, ["hum hum.wav", "nothing nothing.wav"])
    soundfile.write(corpus.folder / "noise" / "hum.wav", corpus.samples(1), RATE)
    soundfile.write(corpus.folder / "noise" / "nothing.wav", np.zeros(RATE), RATE)


def everybody_alone(corpus: Corpus) -> None:
    corpus.write("train/utt2spk", [f"{name} {name}" for name in corpus.names])
    (corpus.folder / "train" / "spk2gender").unlink()


def one_alone(corpus: Corpus) -> None:
    corpus.set_line("train/utt2spk", 1, f"{corpus.names[0]} newcomer")


def wide(corpus: Corpus, lines: range) -> None:
    """The same speech converted to 16 kHz in some files; all others are noise of the whole band."""
    noise = np.random.default_rng(0)
    corpus.write("settings.toml", ["features = {sample_rate = 16000}"])
    for line in range(1, 10):
        samples = soxr.resample(corpus.samples(line), 8000, 16000)
        if line not in lines:
            samples = samples + 0.01 * noise.standard_normal(len(samples))
        corpus.record(line, samples, 16000)


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

AUDIO: dict[str, tuple[Spoil, Expected]] = {
    "a missing file": (
        lambda c: c.audio(4).unlink(),
        ("error", "missing-file", "train/wav.scp", 4, "does not exist"),
    ),
    "an empty file": (
        lambda c: c.audio(4).write_bytes(b""),
        ("error", "empty-file", "train/wav.scp", 4, "is an empty file"),
    ),
    "no audio file": (
        lambda c: c.audio(4).write_bytes(b"rubbish" * 99),
        ("error", "unreadable", "train/wav.scp", 4, "cannot be read as audio"),
    ),
    "a file broken off": (
        lambda c: c.audio(4).write_bytes(c.audio(4).read_bytes()[:-500]),
        ("error", "truncated", "train/wav.scp", 4, "breaks off 500 bytes"),
    ),
    "no samples": (
        lambda c: c.record(4, np.zeros(0)),
        ("error", "empty-file", "train/wav.scp", 4, "holds no samples"),
    ),
    "digital silence": (
        lambda c: c.record(4, np.zeros(12000)),
        ("error", "silent", "train/wav.scp", 4, "digital silence"),
    ),
    "direct current": (
        lambda c: c.record(4, np.full(12000, 0.25)),
        ("warning", "constant", "train/wav.scp", 4, "the same value"),
    ),
    "clipping": (
        lambda c: c.record(4, np.clip(30 * c.samples(4), -1, 1)),
        ("warning", "clipped", "train/wav.scp", 4, "% of the samples"),
    ),
    "opposite phases": (
        lambda c: write_stereo(c, 4),
        ("warning", "opposite-phase", "train/wav.scp", 4, "mono"),
    ),
    "a speaker on one channel and noise on the other": (
        lambda c: c.record(4, np.stack([c.samples(4), noise_like(c.samples(4))], axis=1)),
        ("warning", "channels-differ", "train/wav.scp", 4, "remix 1"),
    ),
    "samples that are no numbers": (
        lambda c: c.record(4, np.append(c.samples(4), np.nan), subtype="FLOAT"),
        ("error", "not-finite", "train/wav.scp", 4, "not finite"),
    ),
    "samples beyond all sound": (
        lambda c: c.record(4, np.append(c.samples(4), 1e30), subtype="FLOAT"),
        ("error", "not-finite", "train/wav.scp", 4, "times full scale"),
    ),
    "samples of another scale": (
        lambda c: c.record(4, 32768 * c.samples(4), subtype="FLOAT"),
        ("warning", "too-loud", "train/wav.scp", 4, "between -1 and 1"),
    ),
    "a low rate": (
        lambda c: c.record(4, soxr.resample(c.samples(4), 8000, 4000), 4000),
        ("error", "low-rate", "train/wav.scp", 4, "set it to 4000"),
    ),
    "a low rate that is to be converted": (
        lambda c: [
            c.write("settings.toml", ["features = {sample_rate = 8000, upsample = true}"]),
            c.record(4, soxr.resample(c.samples(4), 8000, 4000), 4000),
        ],
        ("warning", "low-rate", "train/wav.scp", 4, "as upsample = true says"),
    ),
    "two rates": (
        lambda c: c.record(4, soxr.resample(c.samples(4), 8000, 16000), 16000),
        ("warning", "mixed-rates", "train/wav.scp", 4, "8 at 8000 Hz, 1 at 16000 Hz"),
    ),
    "settings of a higher rate than all files": (
        lambda c: c.write("settings.toml", ["features = {sample_rate = 16000}"]),
        ("error", "low-rate", "train/wav.scp", 1, "set it to 8000"),
    ),
    "one file of telephone speech at a higher rate": (
        lambda c: wide(c, range(4, 5)),
        ("warning", "band-limited", "train/wav.scp", 4, "converted from 8000 to 16000 Hz"),
    ),
    "telephone speech at a higher rate": (
        lambda c: wide(c, range(1, 10)),
        ("warning", "band-limited", "train/wav.scp", 1, "9 of 9 utterances"),
    ),
    "the same file": (
        lambda c: c.set_line("train/wav.scp", 4, f"{c.names[3]} {c.lines('train/wav.scp')[2].split()[1]}"),
        ("warning", "same-file", "train/wav.scp", 4, "(line 3)"),
    ),
    "the same samples": (
        lambda c: c.audio(4).write_bytes(c.audio(3).read_bytes()),
        ("warning", "same-audio", "train/wav.scp", 4, "(line 3)"),
    ),
    "a long recording": (
        lambda c: [c.record(4, np.tile(c.samples(4), 150)), c.append_word(4, "ONE " * 200)],
        ("warning", "long-recording", "train/wav.scp", 4, "segments"),
    ),
}

TRANSCRIPTS: dict[str, tuple[Spoil, Expected]] = {
    "an empty transcript": (
        lambda c: without_words(c, 6),
        ("error", "no-transcript", "train/text", 6, "has no words"),
    ),
    "an unknown word": (
        lambda c: [c.append_word(line, "ELEVEN") for line in (6, 7)],
        ("error", "unknown-word", "train/text", 6, "'ELEVEN' (2 times, in 2 utterances)"),
    ),
    "a number in figures": (
        lambda c: c.append_word(6, "50,"),
        ("error", "unknown-word", "train/text", 6, "; write numbers as they are spoken (FIFTY for 50)"),
    ),
    "figures in a word": (
        lambda c: c.append_word(6, "1st"),
        ("error", "unknown-word", "train/text", 6, "; write numbers as they are spoken"),
    ),
    "a figure that the lexicon has": (
        lambda c: [c.append("lexicon.txt", "2ND S UW N"), c.append_word(6, "2nd")],
        ("error", "unknown-word", "train/text", 6, "it is in the lexicon as 2ND"),
    ),
    "a word in another case": (
        lambda c: c.append_word(6, "one"),
        ("error", "unknown-word", "train/text", 6, "it is in the lexicon as ONE, and letter case counts"),
    ),
    "a word with marks": (
        lambda c: c.append_word(6, "(ONE,"),
        ("error", "unknown-word", "train/text", 6, "; it is in the lexicon as ONE: the marks around a word are no"),
    ),
    "a word with marks in another case": (
        lambda c: c.append_word(6, "One."),
        ("error", "unknown-word", "train/text", 6, "as ONE: the marks around a word are no part of it, and"),
    ),
    "many words in another case": (
        in_lower_case,
        ("error", "unknown-word", "train/text", 1, "words of the transcripts in another one ('"),
    ),
    "too short for the transcript": (
        lambda c: c.record(6, c.samples(6)[:900]),
        ("error", "too-short", "train/text", 6, "9 frames are fewer than the"),
    ),
    "shorter than a frame": (
        lambda c: c.record(6, c.samples(6)[3000:3100]),
        ("error", "too-short", "train/wav.scp", 6, "shorter than one frame"),
    ),
    "words faster than anybody speaks": (
        lambda c: [
            c.settings("states_per_phone = 1"),
            c.record(6, c.samples(6)[:9000]),
            c.set_line("train/text", 6, f"{c.names[5]} " + "TWO NO " * 5),
        ],
        ("warning", "fast-speech", "train/text", 6, "9 a second"),
    ),
    "far too long for the transcript": (
        lambda c: [c.record(6, np.tile(c.samples(6), 20)), c.set_line("train/text", 6, f"{c.names[5]} NO")],
        ("warning", "slow-speech", "train/text", 6, "not written"),
    ),
}

LEXICON: dict[str, tuple[Spoil, Expected]] = {
    "a word without phones": (
        lambda c: c.append("lexicon.txt", "EIGHT"),
        ("error", "malformed", "lexicon.txt", 6, "no phones"),
    ),
    "not UTF-8 in the lexicon": (
        lambda c: replace_bytes(c, "lexicon.txt", b"TWO S UW\n", b"TWO S UW\n\xe9 N\n"),
        ("error", "not-utf8", "lexicon.txt", 5, "0xe9"),
    ),
    "a control character": (
        lambda c: c.append("lexicon.txt", "B\x1bLL N"),
        ("error", "malformed", "lexicon.txt", 6, "control character"),
    ),
    "silence with its phone": (
        lambda c: c.append("lexicon.txt", "<SIL> SIL"),
        ("warning", "silence-entry", "lexicon.txt", 6, "is left out"),
    ),
    "the end of a sentence": (
        lambda c: c.append("lexicon.txt", "SENT-END sil"),
        ("warning", "silence-entry", "lexicon.txt", 6, "remove the line"),
    ),
    "silence in a word": (
        lambda c: c.append("lexicon.txt", "WELL W SP N"),
        ("error", "reserved-phone", "lexicon.txt", 6, "'SP'"),
    ),
    "a pronunciation twice": (
        lambda c: c.append("lexicon.txt", c.lines("lexicon.txt")[2]),
        ("warning", "duplicate-pronunciation", "lexicon.txt", 6, "line 3"),
    ),
    "six pronunciations twice": (
        lambda c: c.write("lexicon.txt", [*c.lines("lexicon.txt"), "NO S UW", *c.lines("lexicon.txt"), "NO S UW"]),
        ("warning", "duplicate-pronunciation", "lexicon.txt", 7, "6 pronunciations are listed before: '"),
    ),
    "a column of probabilities on one line": (
        lambda c: c.append("lexicon.txt", "WON 0.5 W AH N"),
        ("error", "probability-column", "lexicon.txt", 6, "'WON' has a probability"),
    ),
    "a line without the column of probabilities": (
        lambda c: c.write(
            "lexicon.txt",
            [
                " ".join([line.split()[0], *(["1.0"] if number != 2 else []), *line.split()[1:]])
                for number, line in enumerate(c.lines("lexicon.txt"))
            ],
        ),
        ("error", "probability-column", "lexicon.txt", 3, "lacks a probability"),
    ),
    "commas for spaces": (
        lambda c: c.write("lexicon.txt", [line.replace(" ", ",") for line in c.lines("lexicon.txt")]),
        ("error", "malformed", "lexicon.txt", 1, "looks like CSV, as do nearly all lines; a lexicon has WORD PHONE"),
    ),
    "commas after the words": (
        lambda c: c.write("lexicon.txt", [line.replace(" ", ", ", 1) for line in c.lines("lexicon.txt")]),
        ("error", "malformed", "lexicon.txt", 1, "looks like CSV"),
    ),
    "transcripts for the lexicon": (
        lambda c: c.write("lexicon.txt", c.lines("train/text")),
        ("error", "not-a-lexicon", "lexicon.txt", None, "like a list of utterances, such as text or wav.scp"),
    ),
    "text for the lexicon": (
        lambda c: c.write("lexicon.txt", [line.split(maxsplit=1)[1] for line in c.lines("train/text")] * 2),
        ("error", "not-a-lexicon", "lexicon.txt", None, "like text"),
    ),
    "words for the lexicon": (
        lambda c: c.write("lexicon.txt", [line.split()[0] for line in c.lines("lexicon.txt")]),
        ("error", "not-a-lexicon", "lexicon.txt", None, "a list of words"),
    ),
    "a grammar for the lexicon": (
        lambda c: c.write("lexicon.txt", ["$digit = ONE | TWO |", "  SEVEN;", "", "( SENT-START <$digit> SENT-END )"]),
        ("error", "not-a-lexicon", "lexicon.txt", None, "is no lexicon but a grammar of HTK's HParse"),
    ),
    "a grammar of one expression for the lexicon": (
        lambda c: c.write("lexicon.txt", ["/* digits */", "( SENT-START [ONE]", "( <ONE | TWO> ) SENT-END )"]),
        ("error", "not-a-lexicon", "lexicon.txt", None, "a grammar of HTK's HParse"),
    ),
    "a word network for the lexicon": (
        lambda c: c.write("lexicon.txt", ["VERSION=1.0", "N=2 L=1", "I=0 W=ONE", "I=1 W=TWO", "J=0 S=0 E=1"]),
        ("error", "not-a-lexicon", "lexicon.txt", None, "a word network of HTK"),
    ),
    "words after their phones": (
        lambda c: c.write(
            "lexicon.txt", [" ".join(line.split()[1:] + line.split()[:1]) for line in c.lines("lexicon.txt")]
        ),
        ("error", "not-a-lexicon", "lexicon.txt", None, "after its phones and not before"),
    ),
    "stress on some vowels": (
        lambda c: c.change("lexicon.txt", 5, "IY", "IY1"),
        ("warning", "mixed-stress", "lexicon.txt", 1, "UW without a stress digit"),
    ),
    "a phone that nobody says": (
        lambda c: c.append("lexicon.txt", "YES Y N S"),
        ("warning", "unheard-phone", "lexicon.txt", 6, "(YES)"),
    ),
}

SPEAKERS: dict[str, tuple[Spoil, Expected]] = {
    "everybody a speaker": (
        everybody_alone,
        ("warning", "speaker-per-utterance", "train/utt2spk", 1, 'normalize = "utterance"'),
    ),
    "one speaker with one utterance": (
        one_alone,
        ("warning", "single-utterance", "train/utt2spk", 1, "'newcomer'"),
    ),
}

SETTINGS: dict[str, tuple[Spoil, Expected]] = {
    "a setting that is none": (
        lambda c: c.settings("", "[hybrid]", "realignement = 1"),
        ("error", "settings", "settings.toml", 4, "is no setting"),
    ),
    "no TOML": (
        lambda c: c.settings("seed: 1"),
        ("error", "settings", "settings.toml", 2, "TOML"),
    ),
    "front ends that differ": (
        lambda c: c.settings("hybrid_features = {n_cepstra = 10}"),
        ("error", "settings", "settings.toml", 2, "n_cepstra"),
    ),
    "no such classifier": (
        lambda c: c.settings("", "[hybrid]", 'classifier = "forest"'),
        ("error", "classifier", "settings.toml", 4, "'forest'"),
    ),
    "no groups of classes": (
        lambda c: c.settings("context = 3", "[hybrid]", "factored = true", 'classifier = "orols"'),
        ("error", "classifier", "settings.toml", 4, "groups of classes"),
    ),
    "no such parameter": (
        lambda c: c.settings("hybrid = {parameters = {centres = 5}}"),
        ("error", "classifier", "settings.toml", 2, "centres"),
    ),
    "no noise": (
        lambda c: c.settings("[hybrid.noise]", 'directory = "nowhere"'),
        ("error", "noise", "settings.toml", 2, "noise.scp"),
    ),
    "a clip that is not there": (
        lambda c: noise(c, ["hum hum.wav"]),
        ("error", "noise", "noise/noise.scp", 1, "is no file"),
    ),
    "a clip that cannot be read": (
        lambda c: [noise(c, ["hum hum.wav"]), (c.folder / "noise/hum.wav").write_bytes(b"x" * 99)],
        ("error", "noise", "noise/noise.scp", 1, "cannot be read as audio"),
    ),
    "a clip of silence": (silent_clip, ("error", "noise", "noise/noise.scp", 2, "silent")),
}

FAULTS = LISTS | SEGMENTS | AUDIO | TRANSCRIPTS | LEXICON | SPEAKERS | SETTINGS


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_by_itself_is_named_with_its_place_and_nothing_else_is(clean: Corpus, fault: str) -> None:
    spoil, (severity, code, file, line, part) = FAULTS[fault]
    spoil(clean)
    report = clean.validate()
    found = [(f.severity, f.code, str(f.file.relative_to(clean.folder)), f.line) for f in report.findings]
    assert found == [(severity, code, file, line)], "\n".join(report.lines())
    assert part in report.findings[0].message


def test_the_clean_corpora_have_no_findings(clean: Corpus) -> None:
    assert clean.validate().findings == ()
    assert clean.validate(tests=[clean.folder / "test"]).findings == ()
    clean.join()
    assert clean.validate().findings == ()


def test_a_byte_order_mark_is_no_fault(clean: Corpus) -> None:
    for name in ("train/text", "lexicon.txt"):
        path = clean.folder / name
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert clean.validate().findings == ()
