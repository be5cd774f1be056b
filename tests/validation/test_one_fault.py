"""Every kind of fault, each by itself in a clean corpus, is named with file and line, and nothing else is."""

import numpy as np
import pytest
import soundfile
import soxr

from tests.corpus.test_hostile_audio import with_data_size
from tests.toy_corpus import RATE
from tests.validation.corpora import Corpus, Spoil
from tests.validation.faults_of_lists import LISTS, SEGMENTS, replace_bytes


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


AUDIO: dict[str, Spoil] = {
    "error missing-file train/wav.scp:4: does not exist": lambda c: c.audio(4).unlink(),
    "error missing-file train/wav.scp:4: backslashes": lambda c: c.set_line(
        "train/wav.scp", 4, c.lines("train/wav.scp")[3].replace("/", "\\")
    ),
    "error empty-file train/wav.scp:4: is an empty file": lambda c: c.audio(4).write_bytes(b""),
    "error unreadable train/wav.scp:4: cannot be read as audio": lambda c: c.audio(4).write_bytes(b"rubbish" * 99),
    "error truncated train/wav.scp:4: 500 bytes": lambda c: c.audio(4).write_bytes(c.audio(4).read_bytes()[:-500]),
    "error empty-file train/wav.scp:4: holds no samples": lambda c: c.record(4, np.zeros(0)),
    "error silent train/wav.scp:4: digital silence": lambda c: c.record(4, np.zeros(12000)),
    "warning constant train/wav.scp:4: the same value": lambda c: c.record(4, np.full(12000, 0.25)),
    "warning clipped train/wav.scp:4: % of the samples": lambda c: c.record(4, np.clip(30 * c.samples(4), -1, 1)),
    "warning opposite-phase train/wav.scp:4: mono": lambda c: write_stereo(c, 4),
    "warning channels-differ train/wav.scp:4: remix 1": lambda c: c.record(
        4, np.stack([c.samples(4), noise_like(c.samples(4))], axis=1)
    ),
    "error not-finite train/wav.scp:4: not finite": lambda c: c.record(
        4, np.append(c.samples(4), np.nan), subtype="FLOAT"
    ),
    "error too-loud train/wav.scp:4: 1e+30": lambda c: c.record(4, np.append(c.samples(4), 1e30), subtype="FLOAT"),
    "error too-loud train/wav.scp:4: 32768": lambda c: c.record(4, 32768 * c.samples(4), subtype="FLOAT"),
    "warning too-loud train/wav.scp:4: between -1 and 1": lambda c: c.record(
        4, 5 * c.samples(4) / np.abs(c.samples(4)).max(), subtype="FLOAT"
    ),
    "error truncated train/wav.scp:4: 0 bytes of samples": lambda c: with_data_size(c.audio(4), 0),
    "error truncated train/wav.scp:4: 6000 bytes of samples": lambda c: with_data_size(c.audio(4), 6000),
    "error low-rate train/wav.scp:4: set it to 4000": lambda c: c.record(
        4, soxr.resample(c.samples(4), 8000, 4000), 4000
    ),
    "warning low-rate train/wav.scp:4: upsample = true": lambda c: [
        c.write("settings.toml", ["features = {sample_rate = 8000, upsample = true}"]),
        c.record(4, soxr.resample(c.samples(4), 8000, 4000), 4000),
    ],
    "warning mixed-rates train/wav.scp:4: 8 at 8000 Hz, 1 at 16000 Hz": lambda c: c.record(
        4, soxr.resample(c.samples(4), 8000, 16000), 16000
    ),
    "error low-rate train/wav.scp:1: set it to 8000": lambda c: c.write(
        "settings.toml", ["features = {sample_rate = 16000}"]
    ),
    "warning band-limited train/wav.scp:4: from 8000 to 16000 Hz": lambda c: wide(c, range(4, 5)),
    "warning band-limited train/wav.scp:1: 9 of 9 utterances": lambda c: wide(c, range(1, 10)),
    "warning same-file train/wav.scp:4: (line 3)": lambda c: c.set_line(
        "train/wav.scp", 4, f"{c.names[3]} {c.lines('train/wav.scp')[2].split()[1]}"
    ),
    "warning same-audio train/wav.scp:4: (line 3)": lambda c: c.audio(4).write_bytes(c.audio(3).read_bytes()),
    "warning long-recording train/wav.scp:4: segments": lambda c: [
        c.record(4, np.tile(c.samples(4), 150)),
        c.append_word(4, "ONE " * 200),
    ],
}

TRANSCRIPTS: dict[str, Spoil] = {
    "error no-transcript train/text:6: has no words": lambda c: without_words(c, 6),
    "warning unknown-word train/text:6: 'ELEVEN' (2 times": lambda c: [
        c.append_word(line, "ELEVEN") for line in (6, 7)
    ],
    "warning unknown-word train/text:6: (FIFTY for 50)": lambda c: c.append_word(6, "50,"),
    "warning unknown-word train/text:6: numbers as they are spoken": lambda c: c.append_word(6, "1st"),
    "warning unknown-word train/text:6: 2ND": lambda c: [
        c.append("lexicon.txt", "2ND S UW N"),
        c.append_word(6, "2nd"),
    ],
    "warning unknown-word train/text:6: letter case": lambda c: c.append_word(6, "one"),
    "warning unknown-word train/text:6: '(ONE,'": lambda c: c.append_word(6, "(ONE,"),
    "warning unknown-word train/text:6: punctuation": lambda c: c.append_word(6, "ELEVEN\u0964"),
    "warning unknown-word train/text:6: ''ONE''": lambda c: c.append_word(6, "'ONE'"),
    "warning unknown-word train/text:6: remove the punctuation": lambda c: c.append_word(6, "\u2014"),
    "warning unknown-word train/text:6: 'One.'": lambda c: c.append_word(6, "One."),
    "error unknown-word train/text:1: 'two' is TWO": in_lower_case,
    "error unknown-word train/text:6: 'ELEVEN' (1 time": lambda c: c.set_line("train/text", 6, f"{c.names[5]} ELEVEN"),
    "error too-short train/text:6: 9 frames": lambda c: c.record(6, c.samples(6)[:900]),
    "error too-short train/wav.scp:6: shorter than one frame": lambda c: c.record(6, c.samples(6)[3000:3100]),
    "warning fast-speech train/text:6: 9 words per second": lambda c: [
        c.settings("states_per_phone = 1"),
        c.record(6, c.samples(6)[:9000]),
        c.set_line("train/text", 6, f"{c.names[5]} " + "TWO NO " * 5),
    ],
    "warning slow-speech train/text:6: missing": lambda c: [
        c.record(6, np.tile(c.samples(6), 20)),
        c.set_line("train/text", 6, f"{c.names[5]} NO"),
    ],
}

LEXICON: dict[str, Spoil] = {
    "error malformed lexicon.txt:6: no phones": lambda c: c.append("lexicon.txt", "EIGHT"),
    "error not-utf8 lexicon.txt:5: 0xe9": lambda c: replace_bytes(
        c, "lexicon.txt", b"TWO S UW\n", b"TWO S UW\n\xe9 N\n"
    ),
    "error malformed lexicon.txt:6: control character": lambda c: c.append("lexicon.txt", "B\x1bLL N"),
    "warning silence-entry lexicon.txt:6: is left out": lambda c: c.append("lexicon.txt", "<SIL> SIL"),
    "warning silence-entry lexicon.txt:6: remove the line": lambda c: c.append("lexicon.txt", "SENT-END sil"),
    "error reserved-phone lexicon.txt:6: 'SP'": lambda c: c.append("lexicon.txt", "WELL W SP N"),
    "warning duplicate-pronunciation lexicon.txt:6: line 3": lambda c: c.append(
        "lexicon.txt", c.lines("lexicon.txt")[2]
    ),
    "warning duplicate-pronunciation lexicon.txt:7: 6 repeated": lambda c: c.write(
        "lexicon.txt", [*c.lines("lexicon.txt"), "NO S UW", *c.lines("lexicon.txt"), "NO S UW"]
    ),
    "error malformed lexicon.txt:6: 2 numbers": lambda c: c.append("lexicon.txt", "WON 0.5 0.5 W AH N"),
    "error malformed lexicon.txt:6: probability 0.0": lambda c: c.append("lexicon.txt", "WON 0.0 0.5 1.0 1.0 W AH N"),
    "error malformed lexicon.txt:1: nearly all other lines look like CSV": lambda c: c.write(
        "lexicon.txt", [line.replace(" ", ",") for line in c.lines("lexicon.txt")]
    ),
    "error malformed lexicon.txt:1: like CSV": lambda c: c.write(
        "lexicon.txt", [line.replace(" ", ", ", 1) for line in c.lines("lexicon.txt")]
    ),
    "error not-a-lexicon lexicon.txt: text or wav.scp": lambda c: c.write("lexicon.txt", c.lines("train/text")),
    "error not-a-lexicon lexicon.txt: like text": lambda c: c.write(
        "lexicon.txt", [line.split(maxsplit=1)[1] for line in c.lines("train/text")] * 2
    ),
    "error not-a-lexicon lexicon.txt: a list of words": lambda c: c.write(
        "lexicon.txt", [line.split()[0] for line in c.lines("lexicon.txt")]
    ),
    "error not-a-lexicon lexicon.txt: HParse, not a lexicon": lambda c: c.write(
        "lexicon.txt", ["$digit = ONE | TWO |", "  SEVEN;", "", "( SENT-START <$digit> SENT-END )"]
    ),
    "error not-a-lexicon lexicon.txt: a grammar of HTK's HParse": lambda c: c.write(
        "lexicon.txt", ["/* digits */", "( SENT-START [ONE]", "( <ONE | TWO> ) SENT-END )"]
    ),
    "error not-a-lexicon lexicon.txt: a word network of HTK": lambda c: c.write(
        "lexicon.txt", ["VERSION=1.0", "N=2 L=1", "I=0 W=ONE", "I=1 W=TWO", "J=0 S=0 E=1"]
    ),
    "error not-a-lexicon lexicon.txt: word first": lambda c: c.write(
        "lexicon.txt", [" ".join(line.split()[1:] + line.split()[:1]) for line in c.lines("lexicon.txt")]
    ),
    "warning mixed-stress lexicon.txt:1: UW without a stress digit": lambda c: c.change("lexicon.txt", 5, "IY", "IY1"),
    "warning unheard-phone lexicon.txt:6: (YES)": lambda c: c.append("lexicon.txt", "YES Y N S"),
}

SPEAKERS: dict[str, Spoil] = {
    'warning speaker-per-utterance train/utt2spk:1: normalize = "utterance"': everybody_alone,
    "warning single-utterance train/utt2spk:1: 'newcomer'": one_alone,
}

SETTINGS: dict[str, Spoil] = {
    "error settings settings.toml:4: is not a setting": lambda c: c.settings("", "[hybrid]", "realignement = 1"),
    "error settings settings.toml:2: TOML": lambda c: c.settings("seed: 1"),
    "error settings settings.toml:2: n_cepstra": lambda c: c.settings("hybrid_features = {n_cepstra = 10}"),
    "error classifier settings.toml:4: 'forest'": lambda c: c.settings("", "[hybrid]", 'classifier = "forest"'),
    "error classifier settings.toml:2: centres": lambda c: c.settings("hybrid = {parameters = {centres = 5}}"),
    "error noise settings.toml:2: noise.scp": lambda c: c.settings("[hybrid.noise]", 'directory = "nowhere"'),
    "error noise noise/noise.scp:1: is not a file": lambda c: noise(c, ["hum hum.wav"]),
    "error noise noise/noise.scp:1: cannot be read as audio": lambda c: [
        noise(c, ["hum hum.wav"]),
        (c.folder / "noise/hum.wav").write_bytes(b"x" * 99),
    ],
    "error noise noise/noise.scp:2: silent": silent_clip,
}

FAULTS = LISTS | SEGMENTS | AUDIO | TRANSCRIPTS | LEXICON | SPEAKERS | SETTINGS


@pytest.mark.parametrize("finding", FAULTS)
def test_one_fault_is_the_only_finding_with_its_place(clean: Corpus, finding: str) -> None:
    FAULTS[finding](clean)
    clean.check_only_finding(finding)


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
