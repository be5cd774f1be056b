"""Every kind of fault, each by itself in a clean corpus, is named with file and line, and nothing else is."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr

from tests.toy_corpus import RATE
from tests.validation.corpora import Corpus, Spoil
from tests.validation.faults_of_lists import LISTS, SEGMENTS, Expected, replace_bytes


def without_words(corpus: Corpus, line: int) -> None:
    corpus.set_line("train/text", line, corpus.names[line - 1])


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


def with_data_size(path: Path, size: int) -> None:
    """Write another size into the header of the samples."""
    content = bytearray(path.read_bytes())
    place = content.index(b"data")
    content[place + 4 : place + 8] = size.to_bytes(4, "little")
    path.write_bytes(content)


AUDIO: dict[str, tuple[Spoil, Expected]] = {
    "a missing file": (
        lambda c: c.audio(4).unlink(),
        ("error", "missing-file", "train/wav.scp", 4, "does not exist"),
    ),
    "backslashes in a path": (
        lambda c: c.set_line("train/wav.scp", 4, c.lines("train/wav.scp")[3].replace("/", "\\")),
        ("error", "missing-file", "train/wav.scp", 4, "backslashes"),
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
        ("error", "too-loud", "train/wav.scp", 4, "1e+30"),
    ),
    "integers that were not divided": (
        lambda c: c.record(4, 32768 * c.samples(4), subtype="FLOAT"),
        ("error", "too-loud", "train/wav.scp", 4, "32768"),
    ),
    "samples of another scale": (
        lambda c: c.record(4, 5 * c.samples(4) / np.abs(c.samples(4)).max(), subtype="FLOAT"),
        ("warning", "too-loud", "train/wav.scp", 4, "between -1 and 1"),
    ),
    "a header of no samples": (
        lambda c: with_data_size(c.audio(4), 0),
        ("error", "truncated", "train/wav.scp", 4, "0 bytes of samples"),
    ),
    "a header of too few samples": (
        lambda c: with_data_size(c.audio(4), 6000),
        ("error", "truncated", "train/wav.scp", 4, "6000 bytes of samples"),
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
    "an unknown word with a danda": (
        lambda c: c.append_word(6, "ELEVEN\u0964"),
        ("error", "unknown-word", "train/text", 6, "punctuation"),
    ),
    "a quoted word": (
        lambda c: c.append_word(6, "'ONE'"),
        ("error", "unknown-word", "train/text", 6, "it is in the lexicon as ONE"),
    ),
    "a mark by itself": (
        lambda c: c.append_word(6, "\u2014"),
        ("error", "unknown-word", "train/text", 6, "punctuation is not a word"),
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
    "two columns of numbers": (
        lambda c: c.append("lexicon.txt", "WON 0.5 0.5 W AH N"),
        ("error", "malformed", "lexicon.txt", 6, "2 numbers"),
    ),
    "a probability of zero": (
        lambda c: c.append("lexicon.txt", "WON 0.0 0.5 1.0 1.0 W AH N"),
        ("error", "malformed", "lexicon.txt", 6, "probability 0.0"),
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
