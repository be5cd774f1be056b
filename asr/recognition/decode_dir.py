"""Confusion networks from a results directory of `asr decode`."""

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

from asr.alignment.confusion_file import read_confusions
from asr.alignment.ctm import read_ctm
from asr.corpus.identifiers import fault_in_name
from asr.grammar.filler import FILLER_WORD
from asr.lattices.confusion_network import Bin
from asr.lattices.minimum_bayes_risk import mbr_decode
from asr.lattices.slf import read_slf_lattice
from asr.recognition.hypotheses import HYPOTHESES, TIMES
from asr.recognition.lattice_outputs import CONFUSIONS
from asr.scoring.files import read_transcripts
from asr.util.counted_text import some
from asr.util.errors import CorpusError
from discriminants.util.paths import exists, is_dir

LATTICES = "lattices"
_LEAST = 1e-4  # of a word's confidence, which is rounded to three digits in the file
_FOREIGN = 0.05  # fraction of the words that may be missing from networks of the same recognition


@dataclass(frozen=True)
class SystemResult:
    """Results of one system."""

    path: Path
    brings: str  # description of the source
    networks: dict[str, list[Bin]]  # times in ms; no bins if nothing was recognized


def read_results(path: Path) -> SystemResult:
    """Read the confusion networks of a directory; otherwise its lattices, or its words with confidences.

    `hyp.txt` lists the utterances. Networks are in `confusions.tsv`, lattices in `lattices/UTTERANCE.lat` (HTK's
    format, all utterances). Words without confidence count as certain.

    Raises
    ------
    AsrError
        A subclass, if a file is missing or malformed, or has other utterances or words.
    """
    if not is_dir(path):
        found = "is a file" if exists(path) else "does not exist"
        raise CorpusError(f"'{path}' {found}. Expected an output directory of asr decode, with {HYPOTHESES}")
    hypotheses = read_transcripts(path / HYPOTHESES, format="kaldi")
    if not hypotheses:
        raise CorpusError(f"{path / HYPOTHESES} has no utterances")
    if exists(path / CONFUSIONS):
        networks = read_confusions(path / CONFUSIONS)
        _check_utterances(path / CONFUSIONS, networks, hypotheses)
        networks = {name: _in_milliseconds(networks.get(name, [])) for name in hypotheses}
        _check_words(path / CONFUSIONS, networks, hypotheses)
        return SystemResult(path, "confusion networks", networks)
    if any((path / LATTICES).glob("*.lat")):
        networks = {name: _of_lattice(path / LATTICES, name) for name in hypotheses}
        _check_words(path / LATTICES, networks, hypotheses)
        return SystemResult(path, "lattices", networks)
    return _of_words(path, hypotheses)


def _in_milliseconds(places: list[Bin]) -> list[Bin]:
    return [replace(place, begin=1000.0 * place.begin, end=1000.0 * place.end) for place in places]


def _of_lattice(directory: Path, name: str) -> list[Bin]:
    fault = fault_in_name(name)
    if fault is not None:
        raise CorpusError(f"{directory}: the utterance {name!r} has no lattice file: its id {fault}")
    lattice = read_slf_lattice(directory / f"{name}.lat", rate=1000.0)
    return list(mbr_decode(lattice.pruned(math.inf)).places)  # without dead ends


def _of_words(path: Path, hypotheses: dict[str, tuple[str, ...]]) -> SystemResult:
    """Return networks with one word per bin and its confidence; the remaining probability is unassigned."""
    networks: dict[str, list[Bin]] = {name: [] for name in hypotheses}
    labels: dict[str, list[str]] = defaultdict(list)
    sure = 0
    rows = read_ctm(path / TIMES)
    for row in rows:
        if row.label == FILLER_WORD:
            continue
        if row.confidence is not None and row.confidence > 1.0:
            which = f"{path / TIMES}: the confidence {row.confidence:g} of {row.label!r} in {row.utterance}"
            raise CorpusError(f"{which} is above 1")
        confidence = 1.0 if row.confidence is None else max(row.confidence, _LEAST)
        sure += row.confidence is None
        begin = 1000.0 * row.start
        place = Bin(((row.label, confidence),), begin, begin + 1000.0 * row.duration)
        networks.setdefault(row.utterance, []).append(place)
        labels[row.utterance].append(row.label)
    _check_utterances(path / TIMES, networks, hypotheses)
    for name, words in hypotheses.items():
        if tuple(labels[name]) != words:
            raise CorpusError(f"{path}: {HYPOTHESES} and {TIMES} have different words in {name}. Decode again")
    return SystemResult(path, "words" if sure else "words with confidences", networks)


def _check_utterances(path: Path, found: dict[str, list[Bin]], hypotheses: dict[str, tuple[str, ...]]) -> None:
    strange = sorted(found.keys() - hypotheses.keys())
    if strange:
        raise CorpusError(f"{path} has utterances that are missing in {HYPOTHESES}: {some(strange, 3)}. Decode again")


def _check_words(path: Path, networks: dict[str, list[Bin]], hypotheses: dict[str, tuple[str, ...]]) -> None:
    """Raise an error for networks of an earlier recognition, which lack words of the best paths."""
    missing = n_words = 0
    for name, words in hypotheses.items():
        known = {word for place in networks[name] for word, _ in place.words}
        missing += sum(word not in known for word in words)
        n_words += len(words)
    if missing > max(1.0, _FOREIGN * n_words):
        raise CorpusError(
            f"{path}: {missing} of the {n_words} words of {HYPOTHESES} are missing, so the files are of different "
            "runs. Decode again, or remove this file"
        )
