"""Validation of a corpus before training, in one pass."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from asr.corpus.audio_stats import Measured
from asr.corpus.batches import attempt_all
from asr.corpus.data_directory import DataLists
from asr.features.config import FeatureConfig
from asr.lexicon import Lexicon
from asr.lexicon.named import is_named
from asr.util.errors import Issue
from asr.validation import recordings, settings, speakers, transcripts
from asr.validation.corpus_size import remarks_on_amount, remarks_on_context, remarks_on_silent_tests
from asr.validation.directory import (
    Matrix,
    check_archives,
    check_order,
    check_unused,
    check_utterances,
    collect_lists,
    read_size,
)
from asr.validation.findings import stopping, with_one_cause
from asr.validation.lexicon import check_is_lexicon, check_lexicon, check_phone_coverage, collect_lexicon, named_lexicon
from asr.validation.report import Report, Summary, SummaryOfTest
from asr.validation.settings import Settings
from asr.validation.transcripts import Timed
from discriminants.parallel.workers import SerialWorkers, Workers

Follow = Callable[[int], AbstractContextManager[Callable[[int], None]]]
"""Returns a progress context for a number of utterances; it yields a function that is called with those done."""


def validate(
    data: Path | str,
    lexicon: Path | str,
    config: Settings | None = None,
    *,
    root: Path | str | None = None,
    tests: Iterable[Path | str] = (),
    config_file: Path | None = None,
    samples_too: bool = True,
    workers: Workers = SerialWorkers(),  # noqa: B008 (holds nothing)
    follow: Follow = lambda _: nullcontext(lambda _: None),
) -> Report:
    """Check a training corpus, its lexicon and settings without training.

    Parameters
    ----------
    data, lexicon : path
        Inputs of `asr train`.
    config : asr.training.config.TrainingConfig, optional
        Without it, rates and lengths in frames are not checked.
    root : path, optional
        Base of relative paths.
    tests : paths
        Data directories of tests.
    config_file : path, optional
        Source of the settings, for the places of findings.
    samples_too : bool
        Whether to read audio and archives (each file once) in addition to lists and headers.
    workers : Workers
        Workers for reading; the report does not depend on them.
    follow : callable, optional
        Shows the progress of reading.

    Returns
    -------
    Report
        Findings sorted by file and line. Without errors, `asr train` accepts the inputs and uses all utterances.

    Raises
    ------
    OSError, MemoryError
        For failures of the machine, not of a file.

    Examples
    --------
    >>> from asr.validation import validate
    >>> validate("data/train", "lexicon.txt").summary.lexicon_words
    5
    """
    root = None if root is None else Path(root)
    train, train_issues = collect_lists(Path(data), root)
    collected = [(train, train_issues), *(collect_lists(Path(path), root, transcribed=False) for path in tests)]
    others = [directory for directory, _ in collected[1:]]
    of_lexicon: list[Issue] = []
    if is_named(lexicon):
        dictionary = named_lexicon(str(lexicon), train, of_lexicon)
    else:
        strip_stress = None if config is None else config.lexicon.strip_stress
        dictionary = collect_lexicon(Path(lexicon), strip_stress, of_lexicon)
    features = FeatureConfig() if config is None else config.features
    measured: list[Found] = []
    with follow(sum(len(directory.usable) for directory, _ in collected)) as finished:
        done = 0
        for directory, _ in collected:
            measured.append(_measured(directory, features, samples_too, workers, partial(_advance, finished, done)))
            done += len(directory.usable)

    findings = list(check_is_lexicon(dictionary, of_lexicon, train))
    if findings:  # its other issues follow from that
        dictionary = replace(dictionary, entries=(), lexicon=None)
    else:
        findings = [*of_lexicon, *check_lexicon(dictionary)]
    known = dictionary.lexicon
    for (directory, issues), found in zip(collected, measured, strict=True):
        training = directory is train
        findings += with_one_cause(directory, issues, training=training)
        findings += _directory(directory, found, features if config is not None else None, training)
        if known is not None:
            findings += transcripts.check_words_known(directory, known, dictionary.damaged, training=training)
    findings += speakers.check_speakers_apart(train, others)
    findings += transcripts.check_words_there(train)
    timed = _timed(measured[0], features, config)
    findings += transcripts.check_lengths(train, known, timed, 1 if config is None else config.states_per_phone)
    if config is not None:
        per_speaker = "speaker" in (config.features.normalize, config.hybrid_features.normalize)
        findings += speakers.check_utterances_of_speakers(train, per_speaker)
        findings += _settings(config, config_file, measured[0], samples_too)
        if known is not None:
            findings += settings.check_questions(config, known, config_file)
    lost = {name for finding in findings for name in finding.utterances}
    kept = [name for name in train.usable if name not in lost]
    if known is not None and any(train.words.get(name) for name in kept):
        findings += check_phone_coverage(dictionary, _phones_said(train, kept, known))
    findings += _nothing_left(train, findings)
    findings.sort(key=lambda finding: (str(finding.path), finding.line or 0, finding.code, finding.message))
    summary = _summary(train, known, measured[0], kept)
    if config is not None and summary.rates:
        summary = replace(summary, sample_rate=features.sample_rate)
    summary = replace(summary, tests=tuple(_test_set(other, known, findings) for other in others))
    remarks = [*remarks_on_amount(summary), *remarks_on_silent_tests(others)]
    if config is not None and (config.context == 3 or config.asks_for_context):
        remarks += remarks_on_context(summary, config.tied_states, config.states_per_phone, features.shift_ms)
    return Report(tuple(dict.fromkeys(findings)), summary, tuple(remarks))


Found = dict[str, Measured | Matrix | Issue]


def _advance(finished: Callable[[int], None], before: int, n: int) -> None:
    finished(before + n)


def _measured(
    directory: DataLists, features: FeatureConfig, samples_too: bool, workers: Workers, finished: Callable[[int], None]
) -> Found:
    utterances = list(directory.usable.values())
    found: list[Measured | Issue] | list[Matrix | Issue] = []
    if directory.source_list != "feats.scp":
        found = recordings.measure_all(utterances, features.sample_rate, samples_too, workers, finished)
    elif samples_too:
        found = attempt_all(read_size, utterances, workers=workers, progress=finished)
    return dict(zip(directory.usable, found, strict=False))


def _directory(directory: DataLists, found: Found, features: FeatureConfig | None, training: bool) -> Iterator[Issue]:
    """Run the checks of a data directory that do not need the lexicon or training settings."""
    for name, given in directory.lists.items():
        yield from check_order(given, optional=name == "spk2gender")
    yield from with_one_cause(directory, check_utterances(directory), training=training)
    yield from check_unused(directory)
    yield from speakers.check_genders(directory)
    if directory.source_list == "feats.scp":
        sizes = {name: size for name, size in found.items() if not isinstance(size, Measured)}
        yield from with_one_cause(directory, check_archives(directory, sizes), training=training)
        return
    audio = {name: result for name, result in found.items() if not isinstance(result, Matrix)}
    yield from with_one_cause(directory, recordings.check_readable(directory, audio), training=training)
    readable = {name: result for name, result in audio.items() if not isinstance(result, Issue)}
    yield from recordings.check_sound(directory, readable, training=training)
    yield from recordings.check_segments_apart(directory, readable)
    yield from recordings.check_repeated(directory, readable)
    if features is not None:
        yield from recordings.check_rates(directory, readable, features)
        yield from recordings.check_bandwidth(directory, readable, features)


def _settings(config: Settings, file: Path | None, found: Found, samples_too: bool) -> Iterator[Issue]:
    yield from settings.check_classifier(config, file)
    columns = next((size.n_columns for size in found.values() if isinstance(size, Matrix)), None)
    yield from settings.check_copies(config, file, columns)
    if config.hybrid.noise is not None:
        yield from settings.check_noise(config.hybrid.noise, config.features.sample_rate, file, samples_too=samples_too)


def _timed(found: Found, features: FeatureConfig, config: Settings | None) -> dict[str, Timed]:
    timed = {}
    for name, result in found.items():
        if isinstance(result, Measured):
            frames = None if config is None else transcripts.frames_of(result.seconds, features)
            timed[name] = Timed(result.seconds, frames)
        elif isinstance(result, Matrix):
            timed[name] = Timed(result.n_frames * features.shift_ms / 1000.0, result.n_frames)
    return timed


def _phones_said(directory: DataLists, names: Sequence[str], lexicon: Lexicon) -> Counter[str]:
    """Count the phones, with at least 0 for all phones of a word's variants."""
    words = Counter(word for name in names for word in directory.words.get(name, ()))
    said: Counter[str] = Counter()
    for word, n in words.items():
        variants = lexicon.pronunciations.get(word, ((),))
        said.update({phone: 0 for variant in variants for phone in variant})
        for phone in variants[0]:
            said[phone] += n
    return said


def _nothing_left(train: DataLists, findings: Sequence[Issue]) -> Iterator[Issue]:
    """Report an empty training set, unless one finding already has all utterances."""
    if any(finding.stops and finding.utterances for finding in findings):
        return
    reasons = {name: finding for finding in reversed(findings) for name in finding.utterances}
    if train.listed and all(name in reasons for name in train.listed):
        name = train.listed[0]
        message = f"none of its {len(train.listed)} utterances can be used; the first: {name}: {reasons[name].message}"
        yield stopping("nothing-left", train.path, None, message)


def _test_set(test: DataLists, lexicon: Lexicon | None, findings: Sequence[Issue]) -> SummaryOfTest:
    words = [word for said in test.words.values() for word in said]
    return SummaryOfTest(
        str(test.path),
        listed=len(test.listed),
        usable=len(test.usable),
        speakers=len({utterance.speaker for utterance in test.usable.values()}),
        words=len(words),
        known=None if lexicon is None else sum(word in lexicon.pronunciations for word in words),
        findings=sum(finding.path is not None and finding.path.is_relative_to(test.path) for finding in set(findings)),
    )


def _summary(train: DataLists, lexicon: Lexicon | None, found: Found, kept: Sequence[str]) -> Summary:
    lengths = _timed(found, FeatureConfig(), None)
    by_speaker: dict[str, int] = defaultdict(int)
    for name in kept:
        by_speaker[train.usable[name].speaker] += len(train.words.get(name, ()))
    said = Counter(word for words in train.words.values() for word in words)
    heard = {word for name in kept for word in train.words.get(name, ())}
    rates = Counter(result.rate for result in found.values() if isinstance(result, Measured))
    pronunciations = {} if lexicon is None else lexicon.pronunciations
    counts = Counter() if lexicon is None else _phones_said(train, kept, lexicon)
    phones = () if lexicon is None else sorted(lexicon.phones, key=lambda name: (-counts[name], name))
    return Summary(
        listed=len(train.listed),
        usable=len(kept),
        without_words=sum(name in train.sources and not words for name, words in train.words.items()),
        seconds=sum(lengths[name].seconds for name in kept) if all(name in lengths for name in kept) else None,
        speakers=len(by_speaker),
        words=sum(by_speaker.values()),
        fewest_words=min(by_speaker.values(), default=0),
        most_words=max(by_speaker.values(), default=0),
        rates=dict(sorted(rates.items())),
        vocabulary=len(said),
        coverage=sum(n for word, n in said.items() if word in pronunciations) / max(1, said.total()),
        lexicon_words=len(pronunciations),
        unheard_words=sum(word not in heard for word in pronunciations),
        phones={phone: counts[phone] for phone in phones},
        stress="" if lexicon is None else lexicon.stress.removeprefix(f"{lexicon.source}: "),
        numbers="" if lexicon is None else lexicon.numbers.removeprefix(f"{lexicon.source}: "),
    )
