"""Forced alignment with the model of a recognizer."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from asr.api.arguments import checked_methods, optional_path
from asr.api.described_model import DescribedModel
from asr.api.results import Alignment
from asr.api.sound import Audio
from asr.api.utterances import align_audio, emit_warnings
from asr.lexicon.graphemes import with_spelled_words
from asr.recognition.grammars import trained_phones
from asr.runs.outcome import Outcome
from asr.util.errors import AlignmentError
from asr.util.unicode_text import nfc
from discriminants.parallel.workers import SerialWorkers, Workers

_SERIAL = SerialWorkers()


@checked_methods
class Aligner(DescribedModel):
    """Base of the recognizer: alignment of known words."""

    def align(self, audio: Audio, words: str | Sequence[str], *, rate: int | None = None) -> Alignment:
        """Find the times of words and phones in audio with known words.

        Parameters
        ----------
        words : str or sequence of str
            What was said.

        Raises
        ------
        LexiconError
            If a word has no pronunciation; `add_word` adds one.
        AlignmentError
            If the words do not fit the audio.
        CorpusError, FeatureError, ConfigError
            As in `recognize`.
        """
        transcript = tuple(map(nfc, words.split() if isinstance(words, str) else words))
        if not transcript:
            raise AlignmentError("words= is empty. Expected the words of the transcript")
        model = self._of_audio()
        model = replace(model, lexicon=with_spelled_words(model.lexicon, transcript, trained_phones(model)))
        return emit_warnings(align_audio(audio, transcript, rate, model))

    def align_directory(
        self,
        data: str | os.PathLike[str],
        output: str | os.PathLike[str],
        *,
        root: str | os.PathLike[str] | None = None,
        lexicon: str | os.PathLike[str] | None = None,
        formats: str | Sequence[str] = (),
        compare: str | os.PathLike[str] | None = None,
        workers: Workers = _SERIAL,
    ) -> Outcome:
        """Align a Kaldi data directory like the command `asr align`, and write the same files.

        Raises AlignmentError if no utterance could be aligned, and other subclasses of AsrError.

        Parameters
        ----------
        lexicon : path, optional
            Pronunciations to use instead of the model's.
        """
        from asr.commands.align import align as align_data

        return align_data(
            self._model,
            Path(data),
            Path(output),
            root=optional_path(root),
            lexicon=optional_path(lexicon),
            formats=formats,
            compare=optional_path(compare),
            workers=workers,
        )
