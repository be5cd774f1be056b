"""False alarms on recordings without a command, and the commands lost by rejection.

    python -m benchmarks.false_commands --data-dir DIR [--work-dir runs/false-commands] [--seed 5]

The commands are 60 sentences of two to four words. The model is `asr train`'s default on 600 sentences of 30 artificial
voices, hybrid and mixtures. Rejection is fitted to commands of 12 other voices, 80 sentences of real speech
(speechocean762) and half of the noise clips (ESC-10). It is tested on commands of 12 further voices, 80 sentences of
other real speakers and the other half of the clips; then the halves are exchanged. The compared methods are
the absence of rejection, the smallest word confidence (the peer), the likelihood ratios, and the filler model, each
fitted to lose at most 5 % of the commands.
"""

import argparse
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from asr import Recognizer, Result, train, tune
from asr.corpus.synth_sentences import read_sentence_grammar
from asr.corpus.synth_speakers import Speaker, draw_speakers
from asr.corpus.synthesis import CorpusSettings, make_naval_corpus, record_speaker
from asr.grammar.filler import FILLER_WORD
from asr.util.resources import resource

N_COMMANDS, N_VOICES, COMMANDS_A_VOICE, N_SENTENCES, SHARE = 60, 12, 12, 80, 0.05
ENDINGS_LEFT_OUT = {"THESE", "THOSE", "SLOWEST", "LARGEST"}
Recording = tuple[str, str, Path, str]  # utterance, speaker, file and words, "" of recordings without a command


@dataclass(frozen=True)
class Part:
    """Data for fitting or testing."""

    commands: list[Recording]
    speech: list[Recording]
    noise: list[Recording]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of speechocean762 and noise_esc10")
    parser.add_argument("--work-dir", type=Path, default=Path("runs/false-commands"))
    parser.add_argument("--seed", type=int, default=5)
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING)
    work = given.work_dir / str(given.seed)
    settings = CorpusSettings(seed=given.seed)
    corpus = work / "corpus"
    if not corpus.exists():
        make_naval_corpus(corpus, settings)
    train(corpus / "train", corpus / "lexicon.txt", work / "run")
    commands = sorted(drawn_commands(given.seed))
    parts = list(_parts(given.data_dir, work / "commands", commands, settings))
    print("model\trejection\tcommands right\tspeech accepted\tnoise accepted")
    for name in ("model", "gmm"):
        totals: dict[str, np.ndarray] = {}
        for fitted, tested in parts:
            for way, counts in measured(work, work / "run" / f"{name}.safetensors", commands, fitted, tested).items():
                totals[way] = totals.get(way, np.zeros(6, int)) + counts
        for way, (kept, n, speech, n_speech, clips, n_clips) in totals.items():
            print(f"{name}\t{way}\t{kept} of {n}\t{speech} of {n_speech}\t{clips} of {n_clips}", flush=True)


def _parts(data: Path, folder: Path, commands: list[str], settings: CorpusSettings) -> Iterable[tuple[Part, Part]]:
    """Yield recordings for fitting and testing, with each half of the noise clips."""
    voices = draw_speakers(
        "test",
        2 * N_VOICES,
        np.random.default_rng((settings.seed, 1)),
        rate=settings.rate_wpm,
        pitch=settings.pitch,
        pitch_range=settings.pitch_range,
    )
    said = [recorded(folder, voices[half::2], commands, settings) for half in (0, 1)]
    speech = [_listed(data / "speechocean762", f"{part}/wav.scp") for part in ("train", "test")]
    noise = _listed(data / "noise_esc10", "noise.scp")
    for half in (0, 1):
        yield (
            Part(said[0], _thinned(speech[0]), noise[half::2]),
            Part(said[1], _thinned(speech[1]), noise[1 - half :: 2]),
        )


def measured(work: Path, model: Path, commands: list[str], fitted: Part, tested: Part) -> dict[str, np.ndarray]:
    """Count test results per rejection method: commands correct and total, speech accepted and total, noise
    likewise.
    """
    write(work / "fit", fitted.commands)
    write(work / "others", [*fitted.speech, *fitted.noise])
    plain, with_filler = work / "commands.txt", work / "commands-and-filler.txt"
    plain.write_text("".join(f"{words}\n" for words in commands))
    with_filler.write_text(plain.read_text() + f"{FILLER_WORD}\n")
    found = {}
    ways = {"none": (model, plain), "confidence": (model, plain)}
    for way, grammar in (("likelihood ratios", plain), ("filler", with_filler)):
        tuned = work / f"{way.replace(' ', '-')}.safetensors"
        tune(model, work / "fit", tuned, grammar=grammar, others=work / "others", overwrite=True)
        ways[way] = tuned, grammar
    for way, (file, grammar) in ways.items():
        recognizer = Recognizer.load(file, grammar=grammar, confidence=way == "confidence")
        limit = -1.0
        if way == "confidence":
            sure = [least(result) for _, result in right(recognizer, fitted.commands)]
            limit = float(np.quantile(sure, SHARE))
        accepted = [
            sum(bool(result.text) and least(result) >= limit for _, result in recognized(recognizer, part))
            for part in (tested.speech, tested.noise)
        ]
        kept = sum(least(result) >= limit for _, result in right(recognizer, tested.commands))
        found[way] = np.array(
            [kept, len(tested.commands), accepted[0], len(tested.speech), accepted[1], len(tested.noise)]
        )
    return found


def recognized(recognizer: Recognizer, part: Sequence[Recording]) -> Iterable[tuple[Recording, Result]]:
    """Recognize every recording, all of a speaker together."""
    speakers = [speaker for _, speaker, _, _ in part]
    return zip(part, recognizer.recognize_all([file for _, _, file, _ in part], speakers=speakers, jobs=2), strict=True)


def right(recognizer: Recognizer, part: Sequence[Recording]) -> list[tuple[Recording, Result]]:
    """Return the recordings whose commands are recognized correctly."""
    return [(one, result) for one, result in recognized(recognizer, part) if result.text == one[3]]


def least(result: Result) -> float:
    """Return the smallest word confidence; 1 without confidences."""
    return min((1.0 if word.confidence is None else word.confidence for word in result.words), default=1.0)


def drawn_commands(seed: int) -> set[str]:
    """Draw beginnings of sentences of two to four words whose last word can end a command."""
    grammar = read_sentence_grammar(resource("naval", "sentences.txt"))
    random = np.random.default_rng((seed, 0))
    found: set[str] = set()
    while len(found) < N_COMMANDS:
        words = grammar.draw(random)[: int(random.integers(2, 5))]
        if len(words) > 1 and len(words[-1]) > 4 and words[-1] not in ENDINGS_LEFT_OUT:
            found.add(" ".join(words))
    return found


def recorded(folder: Path, voices: Sequence[Speaker], commands: list[str], settings: CorpusSettings) -> list[Recording]:
    """Synthesize some of the commands with each of the voices."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for voice in voices:
        random = np.random.default_rng((settings.seed, 2, len(voice.id), *voice.id.encode()))
        own = [tuple(commands[number].split()) for number in random.permutation(len(commands))[:COMMANDS_A_VOICE]]
        seed = np.random.SeedSequence((settings.seed, 3, *voice.id.encode()))
        for number, (words, samples) in enumerate(zip(own, record_speaker(voice, own, settings, seed), strict=True)):
            file = folder / f"{voice.id}-{number:03d}.flac"
            soundfile.write(file, samples, 16000, subtype="PCM_16")
            found.append((file.stem, voice.id, file, " ".join(words)))
    return found


def write(folder: Path, recordings: Iterable[Recording]) -> None:
    """Write a data directory."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = sorted(recordings)
    for name, line in (("wav.scp", "{0} {2}\n"), ("utt2spk", "{0} {1}\n"), ("text", "{0} {3}\n")):
        (folder / name).write_text(
            "".join(line.format(name, speaker, file.resolve(), words) for name, speaker, file, words in rows)
        )


def _listed(root: Path, scp: str) -> list[Recording]:
    rows = [line.split(maxsplit=1) for line in (root / scp).read_text().splitlines()]
    return [(name, name, root / path, "") for name, path in rows]


def _thinned(rows: list[Recording]) -> list[Recording]:
    return rows[:: len(rows) // N_SENTENCES][:N_SENTENCES]


if __name__ == "__main__":
    main()
