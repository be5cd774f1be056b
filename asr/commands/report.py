"""`asr report`: a page on one or two runs of `asr align` or `asr decode`, with the sound of the worst utterances."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from statistics import median

from asr.alignment.suspects import SUSPICIOUS
from asr.commands.run_results import RunResults, is_training, read_run
from asr.corpus.data_directory import DataDirectory, Utterance, read_data_directory
from asr.report.clip import MAX_CLIPS, Tier, make_clips, sound_notes
from asr.report.page import COMPARED, Excerpt, PlainTable, Section, write_report
from asr.scoring.bootstrap import compare_systems
from asr.scoring.wer import ScoreReport, UtteranceScore, score_utterances
from asr.training.finished_run import rewrite_report, training_data
from asr.util.counted_text import count
from asr.util.errors import CorpusError, Issue, printable
from asr.util.files import atomic_write

REPORT, COMPARISON = "report.html", "compare.html"
MAX_ROWS = 2000
"""Rows of a table; the files of the run have all."""
_NO_DATA = "Players and error rates need the data directory. Use asr report --data DIR (data=)."

Cell = str | float | None
Column = tuple[str, Mapping[str, Cell]]
"""Title, and a value by utterance or word."""


def report_runs(
    folders: Sequence[Path], path: Path, *, data: Path | None = None, root: Path | None = None
) -> list[Issue]:
    """Write a page on one or two output folders; return an issue for each clip that could not be made.

    The page of one training is its report, written again. Two trainings are compared on the speech that both held out.

    Raises CorpusError if a folder has no results, or the runs and the data have no common utterance.

    Parameters
    ----------
    folders : paths of one or two output folders
        Results of `asr align` or `asr decode`, in any combination, or work directories of `asr train`.
    path : path
        The HTML file.
    data : path, optional
        Data directory of the utterances, with their audio and transcripts. Without it, the page has tables only.
        Trainings use their own data directory by default.
    root : path, optional
        Folder of relative paths in the data directory.
    """
    trainings = [folder for folder in folders if is_training(folder)]
    if len(folders) == 1 and trainings:
        page = rewrite_report(folders[0], data=data, root=root)
        if page.resolve() != path.resolve():
            with atomic_write(path) as temporary:
                copyfile(page, temporary)
        return []
    if trainings and len(trainings) < len(folders):
        raise CorpusError(f"{trainings[0]}: a training. Expected two trainings, or none, for a comparison.")
    runs = [read_run(folder) for folder in folders]
    if len(runs) > 1 and runs[0].name == runs[1].name:
        runs = [replace(run, name=str(folder)) for run, folder in zip(runs, folders, strict=True)]
    corpus = None
    if trainings and data is None:
        data = training_data(trainings[0])
    if data is not None:
        corpus = read_data_directory(data, root=root, prefer="audio", needs_speakers=False)
    if corpus is not None and trainings:
        known = {one.id for one in corpus.utterances}.intersection(*(run.names for run in runs))
        if not known:
            raise CorpusError(f"{trainings[1]}: has no held-out utterance of {trainings[0]}. Expected the same data.")
        runs = [replace(run, hypotheses={name: run.spoken(name) for name in sorted(known)}) for run in runs]
        corpus = corpus.subset(known)
    return write_run_report(path, runs, corpus)


def write_run_report(path: Path, runs: Sequence[RunResults], corpus: DataDirectory | None) -> list[Issue]:
    """Write a page on one or two runs over the same utterances; return the issues of its clips."""
    utterances = {} if corpus is None else {utterance.id: utterance for utterance in corpus.utterances}
    names = set[str]().union(*(run.names for run in runs))
    if corpus is not None and names.isdisjoint(corpus.listed):
        raise CorpusError(f"{corpus.path}: has no utterance of the results. Expected the data directory of the run.")
    scored = _scored(runs, utterances)
    if scored:
        names |= {one.id for one in next(iter(scored.values())).utterances}
    runs = [replace(run, errors=_by_id(scored[run.name])) if run.name in scored else run for run in runs]
    ordered = _worst_first(names, runs)
    first = ordered[:MAX_CLIPS]
    with_audio = {name: one for name, one in utterances.items() if one.audio is not None}
    clips, issues = make_clips(first, with_audio, {name: _tiers(name, runs) for name in first})
    shown = [name for name in first if name in clips or any(name in run.errors for run in runs)]
    if corpus is not None:
        issues += [issue for issue in corpus.problems if issue.utterance in first]
    players = sound_notes(clips, issues, has_audio=bool(with_audio or issues))
    speakers = {name: report.speakers() for name, report in scored.items()}
    write_report(
        path,
        title=f"{' and '.join(dict.fromkeys(map(_kind, runs)))}: {' and '.join(run.name for run in runs)}",
        notes=[*_summaries(runs, scored), *([_NO_DATA] if corpus is None else players)],
        speakers=speakers if any(1 < len(one) < len(ordered) for one in speakers.values()) else {},
        sections=[_section(shown, runs, utterances)] if shown else [],
        tables=[_utterance_table(ordered, runs, utterances), _word_table(runs)],
        clips=clips,
    )
    return issues


def _kind(run: RunResults) -> str:
    return "Alignment" if run.hypotheses is None else "Recognition"


def _by_id(report: ScoreReport) -> dict[str, UtteranceScore]:
    return {one.id: one for one in report.utterances}


def _scored(runs: Sequence[RunResults], utterances: Mapping[str, Utterance]) -> dict[str, ScoreReport]:
    """Compare the recognized words of each run with all transcripts of the data; empty without transcripts."""
    references = {name: one.words for name, one in utterances.items() if one.words is not None}
    speakers = {name: one.speaker for name, one in utterances.items()}
    return {
        run.name: score_utterances(references, run.hypotheses, speakers=speakers)
        for run in runs
        if run.hypotheses is not None and references
    }


def _worst_first(names: Iterable[str], runs: Sequence[RunResults]) -> list[str]:
    """Sort utterances: by the difference of two runs, then by errors, trust, score and id."""

    def key(name: str) -> tuple[float, float, float, float, float, str]:
        errors = [run.errors[name].counts.errors for run in runs if name in run.errors]
        return (
            min(errors, default=0) - max(errors, default=0),
            -max(errors, default=0),
            -(_shift(name, runs) or 0.0),
            min((run.trust.get(name, 2.0) for run in runs), default=2.0),
            min((run.scores.get(name, 0.0) for run in runs), default=0.0),
            name,
        )

    return sorted(names, key=key)


def _shift(name: str, runs: Sequence[RunResults]) -> float | None:
    """Return the largest distance in ms between word boundaries of two alignments; None for other words."""
    if len(runs) != 2 or any(run.hypotheses is not None for run in runs) or not runs[0].words.get(name):
        return None
    if runs[0].spoken(name) != runs[1].spoken(name):
        return None
    pairs = zip(runs[0].words[name], runs[1].words[name], strict=True)
    return 1000.0 * max(max(abs(a.start - b.start), abs(a.end - b.end)) for a, b in pairs)


def _tiers(name: str, runs: Sequence[RunResults]) -> list[Tier]:
    tiers = []
    for run, of in _named(runs):
        tiers.append(Tier(f"words{of}", run.words.get(name, ())))
        if name in run.phones:
            tiers.append(Tier(f"phones{of}", run.phones[name], of_words=False))
    return tiers


def _named(runs: Sequence[RunResults]) -> list[tuple[RunResults, str]]:
    """Return each run with the end of its titles, which is empty for a single run."""
    return [(run, f" ({run.name})" if len(runs) > 1 else "") for run in runs]


def _summaries(runs: Sequence[RunResults], scored: Mapping[str, ScoreReport]) -> Iterator[str]:
    """Yield a sentence on each run, and one that compares two recognitions."""
    for run in runs:
        n_words = sum(len(run.spoken(name)) for name in run.names)
        size = f"{run.name}: {count(len(run.names), 'utterance')}, {count(n_words, 'word')}"
        if run.name in scored:
            report = scored[run.name]
            rate = f"word error rate {report.wer:.2f} %" if report.words else "no reference words"
            missing = f"; {count(len(report.missing), 'utterance')} without a result" if report.missing else ""
            yield f"{size}; {rate}, {count(report.errors, 'error')} in {count(report.words, 'word')}{missing}."
        elif run.scores:
            suspicious = sum(trust < SUSPICIOUS for trust in run.trust.values())
            yield (
                f"{size}; the median score is {median(run.scores.values()):.2f}, and the trust of "
                f"{count(suspicious, 'utterance')} is below {SUSPICIOUS:g}."
            )
        else:
            yield f"{size}."
        if run.uncalibrated:
            yield f"The confidences of {run.name} are not calibrated and may be too high."
    if len(scored) == 2:
        (first, a), (second, b) = scored.items()
        if a.words:
            gap = compare_systems(b, a).difference
            yield (
                f"{second} minus {first}: {gap.value:+.2f} errors in 100 words (95 % interval {gap.low:+.2f} to "
                f"{gap.high:+.2f}, bootstrap over utterances)."
            )


def _section(names: Sequence[str], runs: Sequence[RunResults], utterances: Mapping[str, Utterance]) -> Section:
    compared = any(run.errors for run in runs)
    excerpts = []
    for name in names:
        facts = [f"speaker {utterances[name].speaker}"]
        for run, of in _named(runs):
            if name in run.errors:
                counts = run.errors[name].counts
                facts.append(f"{count(counts.errors, 'error')} in {count(counts.words, 'word')}{of}")
            if name in run.trust:
                facts.append(f"trust {run.trust[name]:.2f}{of}")
            if name in run.scores:
                facts.append(f"score {run.scores[name]:.2f}{of}")
        if (shift := _shift(name, runs)) is not None:
            facts.append(f"largest shift {shift:.0f} ms")
        reasons = [f"{run.reasons[printable(name)]}{of}" for run, of in _named(runs) if printable(name) in run.reasons]
        alignments = [(run.name if len(runs) > 1 else "", run.errors[name].pairs) for run in runs if name in run.errors]
        excerpts.append(Excerpt(name, ", ".join(facts), _sentence("; ".join(reasons)), alignments))
    title = "Utterances with the largest differences" if len(runs) > 1 else "Utterances to check first"
    caption = "Shift: distance of a word boundary in both alignments." if len(runs) > 1 else "The least trusted first."
    return Section(title, COMPARED if compared else caption, excerpts)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _utterance_table(
    ordered: Sequence[str], runs: Sequence[RunResults], utterances: Mapping[str, Utterance]
) -> PlainTable:
    columns: list[Column] = [("Utterance", {name: name for name in ordered})]
    if utterances:
        columns.append(("Speaker", {name: one.speaker for name, one in utterances.items()}))
    for run, of in _named(runs):
        if run.errors:
            columns.append((f"Errors{of}", {name: one.counts.errors for name, one in run.errors.items()}))
        if run.scores:
            columns.append((f"Score{of}", run.scores))
        if run.trust:
            columns.append((f"Trust{of}", run.trust))
    shifts = {name: _shift(name, runs) for name in ordered}
    if any(shift is not None for shift in shifts.values()):
        columns.append(("Largest shift, ms", shifts))
    transcripts = {name: " ".join(one.words) for name, one in utterances.items() if one.words is not None}
    columns.append(("Words", {name: transcripts.get(name, " ".join(runs[0].spoken(name))) for name in ordered}))
    caption = "The first utterances need a check most." + _left_out(len(ordered))
    return _table("Utterances", caption, ordered, columns)


def _word_table(runs: Sequence[RunResults]) -> PlainTable:
    """Count words, by run: their number and median duration, and the errors of recognized words."""
    columns: list[Column] = []
    totals: Counter[str] = Counter()
    for run, of in _named(runs):
        durations, trusts = defaultdict(list), defaultdict(list)
        for labels in run.words.values():
            for label in labels:
                durations[label.text].append(label.end - label.start)
                if label.trust is not None:
                    trusts[label.text].append(label.trust)
        counts = Counter({word: len(values) for word, values in durations.items()})
        totals.update(counts)
        columns.append((f"Count{of}", counts))
        columns.append((f"Median s{of}", {word: median(values) for word, values in durations.items()}))
        if trusts:
            measure = "trust" if run.hypotheses is None else "confidence"
            measure = f"uncalibrated {measure}" if run.uncalibrated else measure
            columns.append((f"Lowest {measure}{of}", {word: min(values) for word, values in trusts.items()}))
        if run.errors:
            wrong = [pair for one in run.errors.values() for pair in one.pairs if pair[0] != pair[1]]
            missed, false = Counter(word for word, _ in wrong if word), Counter(word for _, word in wrong if word)
            totals.update(dict.fromkeys([*missed, *false], 0))
            columns.append((f"Missed{of}", missed))
            columns.append((f"False{of}", false))
    ordered = sorted(totals, key=lambda word: (-totals[word], word))
    caption = "The most frequent words first."
    if any(run.errors for run in runs):
        caption += " Missed: substituted or deleted; false: inserted, or recognized instead of another word."
    return _table(
        "Words", caption + _left_out(len(ordered)), ordered, [("Word", {word: word for word in ordered}), *columns]
    )


def _left_out(number: int) -> str:
    return f" {number - MAX_ROWS:,} further rows are left out." if number > MAX_ROWS else ""


def _table(title: str, caption: str, names: Sequence[str], columns: Sequence[Column]) -> PlainTable:
    rows = [[values.get(name) for _, values in columns] for name in names[:MAX_ROWS]]
    return PlainTable(title, caption, [name for name, _ in columns], rows, digits=3, linked=0)
