"""Checks of speakers: names without utterances, single utterances, and speakers in both training and test."""

from collections import Counter
from collections.abc import Iterator, Sequence

from asr.corpus.data_directory import DataLists
from asr.util.counted_text import count, some
from asr.util.errors import Issue
from asr.validation.findings import warning

_REMEDY = 'set normalize = "utterance" or "corpus" in the settings, or correct the speakers'
_NAMED = 3  # speakers of one utterance on separate lines; more are merged


def check_genders(directory: DataLists) -> Iterator[Issue]:
    """Report speakers of spk2gender without utterances."""
    known = {entry.value for entry in directory.entries("utt2spk").values()}
    for speaker in directory.gender if "utt2spk" in directory.lists else ():
        if speaker not in known:
            given = directory.lists["spk2gender"]
            message = f"the speaker '{speaker}' has no utterance in utt2spk; remove it"
            yield warning("unknown-speaker", given.path, given.entries[speaker].line, message)


def check_utterances_of_speakers(directory: DataLists, normalized: bool) -> Iterator[Issue]:
    """Report speakers with a single utterance if features are normalized by speaker."""
    entries = [entry for name, entry in directory.entries("utt2spk").items() if name in directory.usable]
    spoken = Counter(entry.value for entry in entries)
    if not normalized or len(entries) < 2:
        return
    single = [entry for entry in entries if spoken[entry.value] == 1]
    code, few = "single-utterance", "only one utterance, too little for normalization per speaker"
    found = [(entry.line, f"the speaker '{entry.value}' has {few}") for entry in single]
    if len(single) == len(entries):
        code = "speaker-per-utterance"
        found = [(single[0].line, f"each of the {count(len(entries), 'utterance')} has another speaker")]
    elif len(single) > _NAMED:
        names = some(f"'{entry.value}'" for entry in single)
        found = [(single[0].line, f"{len(single):,} of {len(spoken):,} speakers ({names}) have {few}")]
    for line, fact in found:
        yield warning(code, directory.lists["utt2spk"].path, line, f"{fact}; {_REMEDY}")


def check_speakers_apart(train: DataLists, tests: Sequence[DataLists]) -> Iterator[Issue]:
    """Report test speakers that are also in the training data."""
    known = set(train.speakers.values())
    for test in tests:
        shared: dict[str, int] = {}
        for name, speaker in test.speakers.items():
            if speaker in known:
                shared.setdefault(speaker, test.entries("utt2spk")[name].line)
        for speaker, line in shared.items():
            message = (
                f"the speaker '{speaker}' is also in {train.path}; word error rates of speakers in training do not "
                "hold for new speakers"
            )
            yield warning("shared-speaker", test.lists["utt2spk"].path, line, message)
