"""Final report of a training: both systems on held-out speech, as a table, `results.json` and `report.html`."""

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from asr.acoustic.model_file import SearchSettings
from asr.alignment.alignment_check import AlignmentCheck, segments_of_states
from asr.alignment.frame_times import frame_times
from asr.alignment.recording_labels import AlignedUtterance
from asr.alignment.suspects import Suspect, TranscriptCheck
from asr.alignment.transcript_graph import transcript_graph
from asr.corpus.data_directory import Utterance
from asr.lexicon.phone_units import has_phone_units
from asr.report.clip import Clip, Tier, make_clips, sound_notes, tiers_of
from asr.report.page import RATES, Excerpt, PlainTable, Section, Token, write_report
from asr.scoring.bootstrap import MIN_SPEAKERS, Unit, compare_systems, wer_interval
from asr.scoring.wer import ScoreReport, score_utterances
from asr.training.dataset import Dataset
from asr.training.gmm_stages import AlignedGmms, TrainedSystem, TrainingContext
from asr.training.transcript_check import alignment_of
from asr.training.tuning.cross_validation import TunedSearch
from asr.util.counted_text import count
from asr.util.errors import Issue, attempt
from asr.util.files import atomic_write


def training_clips(
    context: TrainingContext, dataset: Dataset, mixtures: AlignedGmms, names: Sequence[str]
) -> tuple[dict[str, Clip], list[str]]:
    """Return the clips of utterances, the most important first, and sentences for the page."""
    corpus = () if dataset.corpus is None else dataset.corpus.utterances
    with_audio = {one.id: one for one in corpus if one.audio is not None}
    wanted = [name for name in names if name in with_audio]
    tiers = {
        name: _tiers(context, dataset, mixtures, with_audio[name]) for name in wanted if name not in mixtures.failed
    }
    clips, issues = make_clips(wanted, with_audio, tiers)
    return clips, list(sound_notes(clips, issues, has_audio=bool(with_audio)))


def _tiers(context: TrainingContext, dataset: Dataset, mixtures: AlignedGmms, utterance: Utterance) -> list[Tier]:
    """Return the words and phones of an utterance; empty if its audio can no longer be read."""
    times = attempt(frame_times, context.config.features, [utterance], dataset.static)
    if isinstance(times, Issue):
        return []
    topology = mixtures.topology
    graph = transcript_graph(dataset.transcripts[utterance.id], context.training_lexicon, topology)
    states = mixtures.states[dataset.static.rows(utterance.id)]
    phones, words = segments_of_states(states, graph, topology)
    return tiers_of(AlignedUtterance(utterance, words, phones, times[utterance.id]))


log = logging.getLogger(__name__)

Curves = Mapping[str, Sequence[float]]
Sounds = Callable[[Sequence[str]], tuple[Mapping[str, Clip], Sequence[str]]]

RESULTS, PAGE = "results.json", "report.html"
WORST = 20  # utterances shown word by word
MAX_SUSPECT_CLIPS = 10  # of the clips; the others are those of the utterances with most errors
MAX_SUSPECTS = 200  # on the page; the file has all
_DISCRIMINANTS = (
    "kernel-logistic", "orols", "npd", "krls", "npd-ovo", "orols-ovo", "kfd", "sparse-greedy-kfd", "ksod",
    "fixed-size-lssvm", "bayesian-lssvm",
)  # fmt: skip
_NOT_HELD_OUT = "error rates are unknown because no speech was held out"
FEW_WORDS = 300  # below this, models with another seed can differ by several points
_CROSS_VALIDATED = "the error rates come from cross-validation; the saved models are trained on all the data"
_FEW_SPEAKERS = (
    f"the intervals are estimated from utterances because there are fewer than {MIN_SPEAKERS} speakers; they do not "
    "include the variation between speakers"
)


@dataclass(frozen=True)
class HeldOutSystem:
    """A system's results on held-out speech."""

    name: str  # such as "mixtures" or "hybrid"
    kind: Literal["gmm", "discriminant", "other"]
    hypotheses: Mapping[str, Sequence[str]]  # words by utterance id; missing utterances count as deleted
    search: SearchSettings  # settings of the final model
    curves: Curves = field(default_factory=dict)  # training curves by name, one value per pass
    remarks: Sequence[str] = ()  # sentences on the choice of the search


def report_training(
    directory: Path,
    systems: Sequence[HeldOutSystem],
    references: Mapping[str, Sequence[str]],
    speakers: Mapping[str, str],
    *,
    transcripts: TranscriptCheck,
    alignment: AlignmentCheck,
    spoken: Mapping[str, Sequence[str]],
    grammar: str = "bigram",
    states: Literal["mono", "tri"] = "mono",
    token: Token = "word",
    notes: Sequence[str] = (),
    sounds: Sounds | None = None,
) -> list[dict[str, Any]]:
    """Write `results.json` and `report.html` to a directory, and log the error rates.

    Parameters
    ----------
    systems : sequence of HeldOutSystem
        The baseline first. The last one is shown word by word and compared with the first.
    references, speakers : mapping of utterance id to words, and to the speaker
        The held-out speech. If empty, the page has no error rates and the results are an empty list.
    transcripts : TranscriptCheck
        Its suspects are listed on the page.
    alignment : AlignmentCheck
        Alignment of the training speech by the mixtures.
    spoken : mapping of utterance id to words
        Transcripts of the training speech.
    grammar : str
        Name of the grammar of the held-out recognition.
    states : "mono" or "tri"
        Whether HMM states depend on context.
    token : "word" or "phone"
        "phone" if each word of the transcripts is a phone.
    notes : sequence of str
        Sentences at the top of the page.
    sounds : callable, optional
        Returns the clips of utterances, the most important first, and sentences on them.

    Returns
    -------
    rows : list of dict
        Content of `results.json`: the columns of a recipe's rows without frame counts and times (so equal runs give
        equal files), and `wer_low`, `wer_high` (95 % interval), `lm_scale` and `insertion_penalty`. Rates are in %.
    """
    scored = [
        (system, score_utterances(references, system.hypotheses, speakers=speakers))
        for system in systems
        if any(references.values())
    ]
    unit: Unit = "speaker" if len({speakers[name] for name in references}) >= MIN_SPEAKERS else "utterance"
    rows = [_row(system, report, unit, grammar, states) for system, report in scored]
    remarks = [f"{system.name}: {remark}" for system, _ in scored for remark in system.remarks]
    remarks = [*_comparison(scored, unit, token), *remarks, _CROSS_VALIDATED] if rows else [_NOT_HELD_OUT]
    if rows and unit == "utterance":
        remarks.append(_FEW_SPEAKERS)
    _log_results(rows, scored, grammar, token)
    for remark in remarks:
        log.debug("%s", remark)
    with atomic_write(directory / RESULTS) as temporary:
        temporary.write_text(json.dumps(rows, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    worst = scored[-1][1].worst(WORST) if scored else ()
    doubtful = _doubtful(transcripts)
    names = [*(one.name for one in doubtful), *(one.id for one in worst)]
    clips, of_sound = sounds(names) if sounds else ({}, ())
    complaints = [f"alignment: {complaint}" for complaint in alignment.complaints()]
    lines = [*notes, *remarks, str(alignment), *complaints, str(transcripts), *of_sound]
    write_report(
        directory / PAGE,
        title="Training: mixtures and hybrid",
        rows=rows,
        speakers={system.name: report.speakers() for system, report in scored},
        curves={f"{one.name}: {name}": curve for one in systems for name, curve in one.curves.items() if curve},
        transcripts=worst,
        transcripts_of=f"{scored[-1][0].name}, held-out speech" if scored else "",
        notes=[_sentence(line) for line in lines],
        sections=[_section(doubtful, transcripts)] if any(one.name in clips for one in doubtful) else [],
        clips=clips,
        token=token,
        tables=[_suspects(transcripts, spoken)] if transcripts.suspects else [],
    )
    return rows


def report_run(
    context: TrainingContext,
    dataset: Dataset,
    mixtures: AlignedGmms,
    hybrid: TrainedSystem | None,
    tuned: Mapping[str, TunedSearch],
    transcripts: TranscriptCheck,
    notes: Sequence[str],
) -> list[dict[str, Any]]:
    """Write the report of `asr train` on "gmm" and "model" to the run's directory, with `report_training`.

    `hybrid` is None if the training ended after the mixtures. `notes` are sentences at the top of the page.
    """
    settings = context.config.hybrid
    growth = [value for _, one in sorted(mixtures.models.items()) for curve in one.curves.values() for value in curve]
    curves = {"log-likelihood per frame by re-estimation": growth}
    gmm = tuned["gmm"]
    systems = [HeldOutSystem("mixtures", "gmm", gmm.hypotheses, gmm.search, curves, gmm.remarks)]
    if hybrid is not None:
        model = tuned["model"]
        kind: Literal["discriminant", "other"] = (
            "discriminant" if settings.classifier_name in _DISCRIMINANTS else "other"
        )
        systems.append(HeldOutSystem("hybrid", kind, model.hypotheses, model.search, hybrid.curves, model.remarks))
    return report_training(
        context.run.directory,
        systems,
        {name: dataset.transcripts[name] for name in gmm.hypotheses},
        dataset.utterance_speaker,
        transcripts=transcripts,
        alignment=alignment_of(mixtures),
        spoken=dataset.transcripts,
        grammar=f"{context.config.ngram_order}-gram",
        states="tri" if context.config.context == 3 else "mono",
        token="phone" if has_phone_units(context.lexicon) and not context.lexicon.graphemes else "word",
        notes=notes,
        sounds=partial(training_clips, context, dataset, mixtures),
    )


def _log_results(
    rows: Sequence[Mapping[str, Any]], scored: Sequence[tuple[HeldOutSystem, ScoreReport]], grammar: str, token: Token
) -> None:
    if not rows:
        log.info("%s", _NOT_HELD_OUT)
        return
    report = scored[0][1]
    size = ((report.speakers(), "speaker"), (report.utterances, "utterance"))
    log.info(
        "held-out speech: %s, %s; grammar: %s of the transcripts",
        ", ".join(count(len(things), thing) for things, thing in size), count(report.words, token), grammar,
    )  # fmt: skip
    width = max(len(row["system"]) for row in rows)
    for row in rows:
        log.info(
            "  %s %5.2f %% %s (95 %% interval %.1f to %.1f), %s",
            row["system"].ljust(width), row["wer"], RATES[token], row["wer_low"], row["wer_high"],
            count(row["errors"], "error"),
        )  # fmt: skip


def _row(system: HeldOutSystem, report: ScoreReport, unit: Unit, grammar: str, states: str) -> dict[str, Any]:
    interval = wer_interval(report, unit=unit)
    return {
        "system": system.name,
        "kind": system.kind,
        "unit": states,
        "primary": False,
        "grammar": grammar,
        "split": "held-out",
        **report.as_row(),
        "wer_low": interval.low,
        "wer_high": interval.high,
        "lm_scale": system.search.lm_scale,
        "insertion_penalty": system.search.insertion_penalty,
    }


def _comparison(scored: Sequence[tuple[HeldOutSystem, ScoreReport]], unit: Unit, token: Token) -> Iterator[str]:
    """Yield a sentence that compares the last system with the first, if there are several."""
    if len(scored) < 2:
        return
    (baseline, first), (system, last) = scored[0], scored[-1]
    difference = compare_systems(last, first, unit=unit).difference
    doubt = ""
    if difference.low <= 0 <= difference.high:
        doubt = "; the difference is not significant"
    elif first.words < FEW_WORDS:
        doubt = f"; {first.words} {token}s are too few for a reliable comparison"
    yield (
        f"{system.name} makes {_more_or_fewer(difference.value)} errors in 100 {token}s than {baseline.name} (95 % "
        f"interval from {_more_or_fewer(difference.low)} to {_more_or_fewer(difference.high)}, bootstrap over "
        f"{unit}s){doubt}"
    )


def _more_or_fewer(difference: float) -> str:
    return f"{abs(difference):.1f} {'more' if difference > 0 else 'fewer'}"


def _sentence(line: str) -> str:
    return f"{line[:1].upper()}{line[1:]}".rstrip(".") + "."


def _doubtful(check: TranscriptCheck) -> list[Suspect]:
    """Return the suspicious and the least trusted utterances of a page."""
    return [one for one in (*check.suspects, *check.listed) if one.kind in ("utterance", "listed")][:MAX_SUSPECT_CLIPS]


def _section(doubtful: Sequence[Suspect], check: TranscriptCheck) -> Section:
    """Return the excerpts of the least trusted utterances."""
    excerpts = [
        Excerpt(one.name, f"trust {check.trust[one.name]:.2f}, score {one.score:.2f}", _sentence(one.reason))
        for one in doubtful
    ]
    return Section("Least trusted transcripts", "The words and phones are those of the transcripts.", excerpts)


def _suspects(check: TranscriptCheck, spoken: Mapping[str, Sequence[str]]) -> PlainTable:
    rows = [
        (
            suspect.kind,
            suspect.name,
            suspect.score,
            suspect.reason,
            " ".join(spoken[suspect.name]) if suspect.kind == "utterance" else "",
        )
        for suspect in check.suspects[:MAX_SUSPECTS]
    ]
    left_out = len(check.suspects) - len(rows)
    more = f" {left_out} more are in suspects.tsv." if left_out else ""
    return PlainTable(
        "Suspects",
        "Transcripts that may not match the audio, and unusual results of training. The score is the mean log "
        f"likelihood ratio per speech frame of the transcript against any phone sequence. The maximum is 0.{more}",
        ("What", "Name", "Score", "Reason", "Transcript"),
        rows,
        linked=1,
    )
