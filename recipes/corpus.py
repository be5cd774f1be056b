"""Corpora of the recipes as utterances, with checks of their recordings before any work."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from asr.corpus.data_directory import DataDirectory, Utterance
from asr.corpus.formats.source import Found, LeftOut
from asr.corpus.identifiers import fault_in_name
from asr.util.errors import CorpusError, Issue, attempt, by_utterance

_SHOWN = 5


def corpus_of(
    path: Path, found: Iterable[Utterance | Issue], gender: Mapping[str, str] = MappingProxyType({})
) -> DataDirectory:
    """Return the sorted utterances, each once, and the problems of the others."""
    problems: list[Issue] = []
    unique: dict[str, Utterance] = {}
    for entry in found:
        if isinstance(entry, Issue):
            problems.append(entry)
            continue
        first = unique.setdefault(entry.id, entry)
        if first is not entry:
            message = f"the name is the same as that of {first.source}, {entry.source}"
            problems.append(Issue("twice", message, utterances=(entry.id,)))
    return DataDirectory(path, tuple(unique[name] for name in sorted(unique)), gender, tuple(by_utterance(problems)))


def of_format(found: Iterable[Found]) -> Iterator[tuple[str | None, Utterance | Issue]]:
    """Yield the part (None if unknown) and the utterance of each recording, from a reader of `asr.corpus.formats` that
    names speakers and utterances.
    """
    for one in found:
        if isinstance(one, LeftOut):
            yield None, Issue(one.code, f"{one.place}: {one.reason}", utterances=(Path(one.place).name,))
            continue
        name, speaker = one.name or "", one.speaker or ""
        fault = fault_in_name(name) or fault_in_name(speaker)
        if fault is None:
            yield one.part, Utterance(name, speaker, tuple(one.text.split()), one.audio)
        else:
            yield one.part, Issue("bad-name", f"the name or speaker of {one.audio} {fault}", utterances=(name,))


def checked(corpus: DataDirectory, check: Callable[[Path], object], *, complete: bool) -> DataDirectory:
    """Return the corpus without utterances whose files `check` refuses; these are added to the problems.

    If it must be `complete`, as a test set must, CorpusError lists missing and damaged files.
    """
    faults = {utterance.id: attempt(check, utterance.source) for utterance in corpus.utterances}
    bad = [fault.for_utterance(name) for name, fault in faults.items() if isinstance(fault, Issue)]
    problems = by_utterance([*corpus.problems, *bad])
    if complete and problems:
        shown = "; ".join(f"{problem.utterance}: {problem.message}" for problem in problems[:_SHOWN])
        rest = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise CorpusError(
            f"{corpus.path}: {len(problems)} of the {len(corpus.utterances) + len(corpus.problems)} recordings of "
            f"this test set are not usable, but error rates need all of them: {shown}{rest}"
        )
    kept = {name for name, fault in faults.items() if not isinstance(fault, Issue)}
    usable = tuple(utterance for utterance in corpus.utterances if utterance.id in kept)
    return DataDirectory(corpus.path, usable, corpus.gender, tuple(problems))
