"""Checks of speakers: utt2spk, spk2gender, single utterances, and speakers in both training and test."""

from collections import Counter
from collections.abc import Iterator, Sequence

from asr.corpus.identifiers import fault_in_name
from asr.util.counted_text import count, some
from asr.util.errors import Issue
from asr.validation.directory import Directory
from asr.validation.findings import stopping, warning

_REMEDY = 'set normalize = "utterance" or "corpus" in the settings, or name the speakers that there really are'
_NAMED = 3  # speakers of one utterance on separate lines; more are merged


def check_speaker_lines(directory: Directory) -> Iterator[Issue]:
    """Report lines of utt2spk without exactly one speaker."""
    for utterance, entry in directory.entries("utt2spk").items():
        if len(entry.value.split()) > 1:
            message = f"'{utterance} {entry.value}' must be an utterance and one speaker, without white space in it"
            yield stopping("malformed", directory.lists["utt2spk"].path, entry.line, message)


def check_genders(directory: Directory) -> Iterator[Issue]:
    """Report invalid values of spk2gender, and speakers without utterances."""
    if "spk2gender" not in directory.lists:
        return
    path = directory.lists["spk2gender"].path
    known = {entry.value for entry in directory.entries("utt2spk").values()}
    for speaker, entry in directory.entries("spk2gender").items():
        if entry.value and entry.value.lower() not in ("m", "f"):
            message = f"gender '{entry.value}' of speaker '{speaker}' must be 'm' or 'f'"
            yield stopping("bad-gender", path, entry.line, message)
        elif speaker not in known and "utt2spk" in directory.lists:
            yield warning(
                "unknown-speaker", path, entry.line, f"the speaker '{speaker}' has no utterance in utt2spk; remove it"
            )


def check_utterances_of_speakers(directory: Directory, normalized: bool) -> Iterator[Issue]:
    """Report speakers with a single utterance if features are normalized by speaker."""
    entries = {name: entry for name, entry in directory.entries("utt2spk").items() if name in directory.usable}
    spoken = Counter(entry.value for entry in entries.values())
    if not normalized or len(entries) < 2:
        return
    single = [entry for entry in entries.values() if spoken[entry.value] == 1]
    path = directory.lists["utt2spk"].path
    if len(single) == len(entries):
        message = (
            f"each of the {count(len(entries), 'utterance')} has a speaker of its own, so that normalization per "
            f"speaker is normalization per utterance; {_REMEDY}"
        )
        yield warning("speaker-per-utterance", path, single[0].line, message)
        return
    if len(single) <= _NAMED:
        texts = [(entry, f"the speaker '{entry.value}' has") for entry in single]
    else:
        names = some(f"'{entry.value}'" for entry in single)
        texts = [(single[0], f"{len(single):,} of {len(set(spoken)):,} speakers ({names}) have")]
    for entry, who in texts:
        message = f"{who} one utterance only, little for normalization per speaker; {_REMEDY}"
        yield warning("single-utterance", path, entry.line, message)


def check_speakers_apart(train: Directory, tests: Sequence[Directory]) -> Iterator[Issue]:
    """Report test speakers that are also in the training data."""
    heard = {entry.value for entry in train.entries("utt2spk").values() if fault_in_name(entry.value) is None}
    for test in tests:
        texts = set()
        for entry in test.entries("utt2spk").values():
            if entry.value in heard and entry.value not in texts:
                texts.add(entry.value)
                message = (
                    f"the speaker '{entry.value}' is in {train.path} too; word error rates on known speakers say "
                    "little about new ones"
                )
                yield warning("shared-speaker", test.lists["utt2spk"].path, entry.line, message)
