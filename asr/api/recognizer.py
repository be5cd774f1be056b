"""Recognizer: a model that is loaded once and recognizes audio."""

import os
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Literal, Self, Unpack

import numpy as np

from asr.acoustic.classifiers import Classifier, give_classifier
from asr.acoustic.given_scores import ScoreKind, with_given_scores
from asr.acoustic.model_file import SpeechModel, load_model
from asr.acoustic.search_settings import SearchOptions
from asr.api.aligner import Aligner
from asr.api.arguments import checked_methods, optional_path
from asr.api.described_model import RecognizerOptions, summary
from asr.api.results import Result
from asr.api.sound import Audio, audio_or_frames, audios_or_frames
from asr.api.utterances import (
    SpeakerOptions,
    audio_lattice,
    emit_warnings,
    recognize_audio,
    recognize_audio_or_fault,
    recognize_speaker_audio,
    recognize_speakers_audio,
    threads,
)
from asr.commands.decode import decode as decode_files
from asr.corpus.data_directory import DataDirectory
from asr.decode.graph_compiler import compile_graph
from asr.features.extractor import give_extractor
from asr.grammar import Grammar
from asr.hmm.state_graph import StateGraph
from asr.lattices.lattice import Lattice
from asr.lexicon import Lexicon
from asr.recognition.confidence import log_calibration
from asr.recognition.grammars import GrammarChoice, grammar_for, settled, spelled, spelled_lexicon
from asr.recognition.lattice_outputs import OutputOptions
from asr.recognition.multipass import AdaptationMethod, adaptable_model
from asr.recognition.search import wide_enough
from asr.recognition.speech_ratios import warn_of_rejection
from asr.recognition.vocabulary import phones_of, recognizable, require_word, warn_untrained_phones
from asr.runs.outcome import Outcome
from asr.util.errors import ConfigError
from asr.util.unicode_text import nfc
from discriminants.parallel.workers import SerialWorkers, Workers

_SERIAL = SerialWorkers()


@checked_methods
class Recognizer(Aligner):
    """A model with a grammar and search settings.

    Create one with `Recognizer.load`. Several threads may use it at the same time. `add_word` affects later calls. The
    first call compiles the decoding graph. `pickle` and `copy.deepcopy` work without the model's file, so a recognizer
    can be sent to the processes of a pool.

    **Normalization.** With `normalize = "speaker"` (the default of `asr train`) features are normalized over all
    utterances of a speaker. `recognize`, and `recognize_all` without `speakers`, normalize each utterance by itself.
    For short utterances, `recognize_all(..., speakers=...)` and `decode` with a data directory are more accurate.

    Raises GrammarError or ConfigError for an invalid grammar or setting.

    Parameters
    ----------
    model : SpeechModel
        Model in memory; `Recognizer.load` reads one from a file.
    grammar : None, str, path, list of sentences, or Grammar
        See `with_grammar`.
    allow_oov_phones : bool
        Whether words with untrained phones may be recognized, see `asr.recognition.vocabulary`.
    upsample : bool
        Whether to convert audio with a lower rate than the model's instead of raising an error.
    confidence : bool
        Whether words have confidences (`Word.confidence`); this needs lattices, which take more time.
    ratios : bool
        Whether results and words come with likelihood ratios (`phone_llr`, `silence_llr`); takes a second search.
    lm_scale, insertion_penalty, filler_penalty, beam, max_active, min_phone_llr, min_silence_llr : number, optional
        Search settings, by default the model's own; see `SearchSettings`. Minus infinity disables the last two. Under a
        small grammar other than the model's own, the beam is at least 400 unless `beam` or `max_active` is given.

    Examples
    --------
    >>> from asr import Recognizer
    >>> recognizer = Recognizer.load("model.safetensors")
    >>> recognizer.recognize("speech.flac").text
    'WISE TWO SEVEN ONE'
    >>> recognizer.with_grammar(["NO", "WISE TWO SEVEN ONE"]).recognize("speech.flac").words[-1].word
    'ONE'
    """

    _source = "of a model in memory"

    def __init__(
        self,
        model: SpeechModel,
        *,
        grammar: GrammarChoice = None,
        allow_oov_phones: bool = False,
        upsample: bool = False,
        confidence: bool = False,
        ratios: bool = False,
        **search: Unpack[SearchOptions],
    ) -> None:
        super().__init__()
        chosen = model.search.with_options(**search)
        rejecting = ("filler_penalty", "min_phone_llr", "min_silence_llr")
        fitted = None if any(search.get(name) is not None for name in rejecting) else model.rejection
        self._model = replace(model, search=chosen, rejection=fitted)
        self._width_given = search.get("beam") is not None or search.get("max_active") is not None
        if upsample:
            front_end = copy(model.front_end)
            front_end.config = front_end.config.model_copy(update={"upsample": True})
            self._model = replace(self._model, front_end=front_end)
        self._allow_untrained, self._outputs = allow_oov_phones, OutputOptions(confidence=confidence, ratios=ratios)
        self._recognizable: Lexicon | None = None
        self._choice = settled(grammar)
        self._added: frozenset[str] = frozenset()
        self._grammar: Grammar | None = None
        self._graph: StateGraph | None = None
        if self._choice is not None:
            self._grammar = grammar_for(self._model, self._vocabulary(), self._choice)  # raises errors now

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        classifier: str | Classifier | None = None,
        extractor: str | None = None,
        scores: ScoreKind | None = None,
        **options: Unpack[RecognizerOptions],
    ) -> Self:
        """Load a model file.

        Raises ModelFormatError for a damaged file, MissingModelError (a FileNotFoundError) for a missing one.

        Parameters
        ----------
        path : path
            Model file made by `train` or `tune`.
        classifier : str, class or object, optional
            Class of the model's own classifier, such as "package.module:Class", as in training. A model file never
            decides which code is imported. A hybrid with another class is refused with a ModelFormatError.
        extractor : str, optional
            Class of the model's own features, as in training.
        scores : {"posteriors", "log-posteriors", "log-likelihoods"}, optional
            `frames=` and `feats.scp` then have state scores of this kind, with a column for each state, instead of
            features. Posteriors are divided by the model's state priors.
        **options
            Keywords as in the class, such as `grammar` and `beam`.
        """
        kind = None if classifier is None else give_classifier(classifier)
        if extractor is not None:
            give_extractor(extractor)
        model = load_model(Path(path), classifier=kind)
        recognizer = cls(model if scores is None else with_given_scores(model, scores), **options)
        recognizer._source = os.fspath(path)
        return recognizer

    @property
    def graph(self) -> StateGraph:
        """Graph of the grammar, compiled on first use.

        Raises LexiconError, GrammarError or DecodeError if compilation fails.
        """
        return self._ready()[1]

    def __repr__(self) -> str:
        with self._lock:
            words = self._model.lexicon.words if self._grammar is None else self._grammar.words
            return summary(self._model, self._source, self._choice, words)

    def recognize(
        self,
        audio: Audio | None = None,
        rate: int | None = None,
        *,
        frames: np.ndarray | None = None,
        speaker: str | None = None,
        adapt: bool | AdaptationMethod = False,
        speaker_transforms: str | os.PathLike[str] | None = None,
    ) -> Result:
        """Recognize one utterance.

        Unusual audio gives an `AudioWarning` and an entry in the result's `warnings`: digital silence (which has no
        words), channels of opposite phase or with different content, and speech of a lower sampling rate.

        Parameters
        ----------
        audio : path, binary file object, array, or (array, rate)
            Files in the formats of `asr decode`. An array has shape (n,) or (n, n_channels) and holds floating-point
            numbers (full scale 1) or integers (16 or 32 bits). Channels are averaged; higher rates are converted to the
            model's.
        rate : int, optional
            Sampling rate of an array in Hz.
        frames : array (n_frames, n_features), optional
            Static features instead of audio, as the features of training.
        adapt : bool, "input-network", "fmllr" or "vtln"
            As in `recognize_all`. One second of speech is too short for adaptation; one minute improves the results.
        speaker, speaker_transforms : str and path, optional
            Name of the speaker, and a file of speaker transforms. The speaker's transform is read from the file, or
            added to it.

        Raises
        ------
        CorpusError, FeatureError
            If the audio cannot be read, has an unknown type or rate (arrays), or is too short, or if the frames have
            another number of columns than in training.
        DecodeError
            If no sentence of the grammar fits, for example because the audio is too short.
        ConfigError
            If the model was trained on archived features, or cannot be adapted.
        """
        if (speaker is None) != (speaker_transforms is None):
            raise ConfigError(
                "speaker= and speaker_transforms= must be used together: the speaker, and the file of the transforms"
            )
        given = audio_or_frames(audio, frames)
        ready = self._ready(audio_only=frames is None)
        if not adapt and speaker_transforms is None:
            return emit_warnings(recognize_audio(given, rate, *ready, self._outputs))
        options = SpeakerOptions(adapt, optional_path(speaker_transforms), self._outputs)
        return emit_warnings(recognize_speaker_audio(given, rate, speaker or "speaker", *ready, options))

    def recognize_all(
        self,
        audios: Iterable[Audio] | None = None,
        *,
        rate: int | None = None,
        frames: Iterable[np.ndarray] | None = None,
        speakers: str | Sequence[str] | None = None,
        adapt: bool | AdaptationMethod = False,
        speaker_transforms: str | os.PathLike[str] | None = None,
        jobs: int = 1,
    ) -> Iterator[Result]:
        """Recognize many utterances; results come in their order.

        An utterance that cannot be recognized has a result without words; its `error` has the reason. Other errors,
        such as a full disk or an interrupt, are raised. Warnings are those of `recognize`.

        Without `speakers`, audio is read when a result is requested (a few utterances ahead with several `jobs`). With
        `speakers`, all audio is read before the first result, and utterances are normalized by speaker.

        Raises ConfigError if the numbers of speakers and utterances differ, or the model cannot be adapted.

        Parameters
        ----------
        audios : iterable
            Each as in `recognize`.
        rate : int, optional
            Sampling rate in Hz of arrays without one.
        frames : iterable of arrays (n_frames, n_features), optional
            Static features instead of `audios`.
        speakers : list of str, or str, optional
            Speaker of each utterance, or of all utterances.
        adapt : bool, "input-network", "fmllr" or "vtln"
            Method of speaker adaptation in several passes, see `asr decode --adapt`. True is "input-network", for
            hybrids with a kernel logistic classifier; "fmllr" and "vtln" are for mixtures. Needs `speakers`.
        speaker_transforms : path, optional
            File of speaker transforms. Its speakers keep their transforms and take one pass; others are added to it.
            Needs `speakers`.
        jobs : int
            Number of threads; results do not depend on it.
        """
        given = audios_or_frames(audios, frames)
        ready = self._ready(audio_only=frames is None)
        if speakers is None:
            if adapt or speaker_transforms is not None:
                adaptable_model(self.model, adapt, None)  # reports unknown methods first
                raise ConfigError("adapt= and speaker_transforms= need speakers. Use speakers=")
            found = threads(jobs).map(recognize_audio_or_fault, given, rate, *ready, self._outputs)
        else:
            options = SpeakerOptions(adapt, optional_path(speaker_transforms), self._outputs)
            known = list(given), rate, speakers, *ready
            found = iter(recognize_speakers_audio(*known, options, workers=threads(jobs)))
        return (emit_warnings(result) for result in found)

    def lattice(self, audio: Audio, *, rate: int | None = None, beam: float | None = None) -> Lattice:
        """Return the word lattice of one utterance, times in frames. Errors are those of `recognize`.

        Parameters
        ----------
        beam : float, optional
            Largest difference of a path's score from that of the best path, in nats; eight times the grammar's scale by
            default.
        """
        return audio_lattice(audio, rate, *self._ready(), beam)

    def decode(
        self,
        output: str | os.PathLike[str],
        *,
        audio: Sequence[str | os.PathLike[str]] = (),
        speakers: str | None = None,
        data: str | os.PathLike[str] | DataDirectory | None = None,
        root: str | os.PathLike[str] | None = None,
        adapt: bool | AdaptationMethod = False,
        speaker_transforms: str | os.PathLike[str] | None = None,
        formats: str | Sequence[str] = (),
        lattices: str | os.PathLike[str] | None = None,
        lattice_format: Literal["slf", "kaldi"] = "slf",
        lattice_beam: float | None = None,
        n_best: int = 0,
        mbr: bool = False,
        confidence: bool | None = None,
        confusions: bool = False,
        rescore: GrammarChoice = None,
        ratios: bool | None = None,
        workers: Workers = _SERIAL,
    ) -> Outcome:
        """Recognize audio files or a Kaldi data directory like the command `asr decode`, and write the same files.

        `hyp.txt` has one line per utterance, `hyp.ctm` one line per word with its times, and `failed.tsv` the
        utterances that could not be recognized.

        Parameters
        ----------
        audio : list of paths
            Audio files to recognize, instead of `data`.
        speakers : "file", "directory", "one" or a regular expression, optional
            How audio files are grouped by speaker.
        data : path or DataDirectory, optional
            Kaldi data directory to recognize, instead of `audio`.
        formats : str or list of str
            Formats of words and times for other programs, as in `asr.align`, and "mlf" for `hyp.mlf` of HTK.
        lattices : path, optional
            Directory for lattices.
        lattice_format : {"slf", "kaldi"}
            Format of the lattices.
        lattice_beam : float, optional
            Beam of the lattices, in nats; eight times the grammar's scale by default.
        n_best : int
            Number of sentences per utterance in `nbest.tsv`.
        mbr : bool
            Whether to select the words with the least expected errors.
        confidence : bool, optional
            Whether to add confidences to the times; None as the recognizer.
        confusions : bool
            Whether to write `confusions.tsv`.
        rescore : grammar, optional
            As in `with_grammar`; its scores replace those of the search.
        ratios : bool, optional
            Whether to write `ratios.tsv`; None as the recognizer.

        Raises
        ------
        DecodeError
            If no utterance could be recognized.
        AsrError
            For other faults of the input.
        """
        model, graph = self._ready(audio_only=False)
        outputs = OutputOptions(
            directory=optional_path(lattices),
            form=lattice_format,
            beam=lattice_beam,
            n_best=n_best,
            mbr=mbr,
            confidence=self._outputs.confidence if confidence is None else confidence,
            confusions=confusions,
            ratios=self._outputs.ratios if ratios is None else ratios,
            rescore=None if rescore is None else grammar_for(model, self._vocabulary(), settled(rescore)),
        )
        if outputs.calibrated(model.search) is not None:
            log_calibration(model.search.confidence, own_grammar=self._choice is None)
        return decode_files(
            model,
            graph,
            Path(output),
            audio=[Path(path) for path in audio],
            speakers=speakers,
            data=data if isinstance(data, DataDirectory) else optional_path(data),
            root=optional_path(root),
            adapt=adapt,
            speaker_transforms=optional_path(speaker_transforms),
            formats=formats,
            outputs=outputs,
            workers=workers,
        )

    def with_grammar(self, grammar: GrammarChoice) -> Self:
        """Return a recognizer with another grammar, which shares the model.

        Raises GrammarError if the file is not a grammar, or a sentence has a word without pronunciation.

        Parameters
        ----------
        grammar : list of sentences, str, int, path, Grammar or None
            - A list of sentences (texts or sequences of words): exactly these are allowed; repeated ones are more
              likely. "[unk]" in a sentence is speech outside the grammar.
            - "loop": any words in any order; "one": exactly one word; 7: exactly seven words.
            - A path: an ARPA n-gram, word pairs, an HTK word network, an OpenFst file or sentences, as in `asr decode
              --grammar`.
            - An automaton made with `asr.grammar`.
            - None: the model's own grammar.
        """
        with self._lock:
            other = self._copy()
        other._choice = settled(grammar)
        if other._choice is not None:
            other._grammar = grammar_for(other._model, other._vocabulary(), other._choice)
        return other

    def with_settings(self, **search: Unpack[SearchOptions]) -> Self:
        """A recognizer with other search settings (see the class) that shares all else; ConfigError for a bad one."""
        self._model.search.with_options(**search)  # refuses other keywords
        with self._lock:
            other = self._copy(**search)
            other._choice, other._grammar, other._graph = self._choice, self._grammar, self._graph
        return other

    def add_word(self, word: str, pronunciation: str | Sequence[str] | None = None, probability: float = 1.0) -> None:
        """Add a pronunciation of a new or known word; the model file is not changed.

        The word can be recognized if the grammar contains it: "loop" and "one" at once, sentences that use it, and the
        model's own n-gram, in which it is as likely as the rarest word. The grammar is recompiled on next use.

        Parameters
        ----------
        word : str
            Without white space.
        pronunciation : str or sequence of str
            Phones of the model, "HH AY B R AH D" or ["HH", "AY", ...]; unknown stress digits are removed. None: the
            letters of the word, for models that were trained with `lexicon="graphemes"`.
        probability : float
            Probability of this pronunciation, relative to the most likely one of the word; above 0, at most 1.

        Raises
        ------
        LexiconError
            For an unknown phone, no phones, a word with white space or with a special meaning in grammars, or a
            probability that is not above 0 and at most 1.
        """
        word = nfc(word)
        require_word(word, allow_oov_phones=self._allow_untrained)
        phones = spelled(self._model, word) if pronunciation is None else phones_of(word, pronunciation, self.phones)
        with self._lock:
            variants = (*self._model.lexicon.pronunciations.get(word, ()), phones)
            lexicon = replace(
                self._model.lexicon,
                pronunciations={**self._model.lexicon.pronunciations, word: variants},
                probabilities={**self._model.lexicon.probabilities, (word, phones): probability},
            )
            if word not in self._model.lexicon:
                self._added |= {word}
            self._model = replace(self._model, lexicon=lexicon)
            self._recognizable = self._graph = None
            if not isinstance(self._choice, Grammar):
                self._grammar = None
        warn_untrained_phones(word, phones, () if self._allow_untrained else self._model.untrained)

    def _copy(self, **search: Unpack[SearchOptions]) -> Self:
        """Return a copy with the same model but without a compiled grammar."""
        other = type(self)(self._model, allow_oov_phones=self._allow_untrained, **search)
        other._added, other._recognizable, other._source = self._added, self._recognizable, self._source
        other._outputs = self._outputs
        other._width_given |= self._width_given
        return other

    def _ready(self, *, audio_only: bool = True) -> tuple[SpeechModel, StateGraph]:
        """Return the model and compiled grammar as a consistent snapshot for one call."""
        if audio_only:
            self._of_audio()
        with self._lock:
            if self._graph is None:
                lexicon = self._vocabulary()
                if self._grammar is None:
                    self._grammar = grammar_for(self._model, lexicon, self._choice, self._added)
                self._graph = compile_graph(lexicon, self._grammar, self._model.hmm.topology)
                warn_of_rejection(self._model, self._graph)
            if self._choice is None or self._width_given:
                return self._model, self._graph
            return replace(self._model, search=wide_enough(self._model.search, self._graph)), self._graph

    def _vocabulary(self) -> Lexicon:
        if self._recognizable is None:
            self._recognizable = recognizable(self._model, allow_oov_phones=self._allow_untrained)
        return spelled_lexicon(self._model, self._recognizable, self._choice)
