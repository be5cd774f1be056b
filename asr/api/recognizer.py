"""The recognizer as an object: a model that is loaded once and then turns audio into words."""

import os
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal, Self, Unpack

from asr.acoustic.model_file import SearchSettings, SpeechModel, describe_model, load_model
from asr.acoustic.search_settings import SearchOptions
from asr.api.arguments import checked_methods, optional_path
from asr.api.locked import Locked
from asr.api.results import Alignment, Result
from asr.api.sound import Audio
from asr.api.summary import summary
from asr.api.utterances import (
    SpeakerOptions,
    WordDetails,
    align_audio,
    audio_lattice,
    emit_warnings,
    recognize_audio,
    recognize_audio_or_fault,
    recognize_speaker_audio,
    recognize_speakers_audio,
    threads,
)
from asr.commands.align import align as align_data
from asr.commands.decode import decode as decode_files
from asr.decode.graph_compiler import compile_graph
from asr.grammar import Grammar
from asr.hmm.state_graph import StateGraph
from asr.hmm.tree_text import tree_graph, tree_lines
from asr.lattices.lattice import Lattice
from asr.lexicon import Lexicon
from asr.recognition.confidence import tell_what_they_promise
from asr.recognition.grammars import GrammarChoice, grammar_for, settled
from asr.recognition.lattice_outputs import LatticeOptions
from asr.recognition.multipass import AdaptationMethod, adaptable_model
from asr.recognition.rejection import warn_of_rejection
from asr.recognition.search import wide_enough
from asr.recognition.vocabulary import phones_of, recognizable, require_word, warn_untrained_phones
from asr.runs.outcome import Outcome
from asr.util.errors import AlignmentError, ConfigError
from asr.util.unicode_text import nfc
from discriminants.parallel.workers import SerialWorkers, Workers

_SERIAL = SerialWorkers()


class RecognizerOptions(SearchOptions, total=False):
    """Keywords of a recognizer."""

    grammar: GrammarChoice
    allow_oov_phones: bool
    upsample: bool
    confidence: bool
    ratios: bool


@checked_methods
class Recognizer(Locked):
    """A model with a grammar and search settings.

    Make one with `Recognizer.load`. Several threads may use it at the same time. `add_word` affects later calls. The
    first call compiles the decoding graph. `pickle` and `copy.deepcopy` work without the model's file, so a recognizer
    can be sent to the processes of a pool.

    **Normalization.** With `normalize = "speaker"` (the default of `asr train`) features are normalized over all
    utterances of a speaker. `recognize`, and `recognize_all` without `speakers`, have one utterance at a time. Short
    utterances are recognized better by `recognize_all(..., speakers=...)` and by `decode` with a data directory.

    Parameters
    ----------
    model : SpeechModel
    grammar : None, str, path, list of sentences, or Grammar
        See `with_grammar`.
    lm_scale, insertion_penalty, filler_penalty, beam, max_active, min_phone_llr, min_silence_llr : number, optional
        Instead of the model's own; see `SearchSettings`. The last two are minus infinity for no limit. Under a
        small grammar that is not the model's own the search is at least 400 wide unless `beam` or `max_active` is
        given.
    allow_oov_phones : bool
        Whether words may be recognized that training says nothing of, see `asr.recognition.vocabulary`.
    upsample : bool
        Whether audio of a lower rate than the model's is converted and not refused.
    confidence : bool
        Whether words come with their confidences (`Word.confidence`), which takes lattices and so more time.
    ratios : bool
        Whether results and words come with likelihood ratios (`phone_llr`, `silence_llr`); takes a second search.

    Raises GrammarError or ConfigError for a grammar or a setting that cannot be used.
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
        self._allow_untrained, self._details = allow_oov_phones, WordDetails(confidence, ratios)
        self._recognizable: Lexicon | None = None
        self._choice = settled(grammar)
        self._added: frozenset[str] = frozenset()
        self._grammar: Grammar | None = None
        self._graph: StateGraph | None = None
        if self._choice is not None:
            self._grammar = grammar_for(self._model, self._vocabulary(), self._choice)  # what is wrong is said now

    @classmethod
    def load(cls, path: str | os.PathLike[str], **options: Unpack[RecognizerOptions]) -> Self:
        """Load a model file made by `train` or `tune`; keywords (`grammar`, `beam`, ...) as of the class.

        Raises ModelFormatError for a damaged file, MissingModelError (a FileNotFoundError) if there is none.
        """
        recognizer = cls(load_model(Path(path)), **options)
        recognizer._source = os.fspath(path)
        return recognizer

    @property
    def model(self) -> SpeechModel:
        """The model with its lexicon and search settings as they are now."""
        return self._model

    def info(self) -> dict[str, Any]:
        """What the model is and what it was trained on, as `asr info` tells it of a file."""
        return describe_model(self._model)

    def tree(self, form: Literal["text", "dot"] = "text") -> Iterator[str]:
        """Lines of the trees that lead a phone between its neighbours to its states, as text or for Graphviz.

        Raises ConfigError for a model whose states do not depend on the neighbours.
        """
        topology = self._model.hmm.topology
        if topology.tying is None:
            raise ConfigError("the model has no trees: its states do not depend on neighbours. Train with context = 3")
        return (tree_lines if form == "text" else tree_graph)(topology)

    @property
    def search(self) -> SearchSettings:
        """How the search weighs its parts, and how wide it is."""
        return self._model.search

    @property
    def words(self) -> tuple[str, ...]:
        """Every word that has a pronunciation, sorted; the grammar may use fewer."""
        return self._model.lexicon.words

    @property
    def phones(self) -> tuple[str, ...]:
        """The phones that pronunciations may use."""
        return self._model.hmm.topology.phones

    @property
    def sample_rate(self) -> int:
        """Samples a second that the model hears; audio of a higher rate is converted."""
        return self._model.front_end.config.sample_rate

    @property
    def graph(self) -> StateGraph:
        """The graph of the grammar, compiled when it is first needed.

        Raises LexiconError, GrammarError or DecodeError when it cannot be.
        """
        return self._ready()[1]

    def __repr__(self) -> str:
        with self._lock:
            words = self._model.lexicon.words if self._grammar is None else self._grammar.words
            return summary(self._model, self._source, self._choice, words)

    def recognize(
        self,
        audio: Audio,
        rate: int | None = None,
        *,
        speaker: str | None = None,
        adapt: bool | AdaptationMethod = False,
        speaker_transforms: str | os.PathLike[str] | None = None,
    ) -> Result:
        """Recognize one utterance.

        Unusual audio gives an `AudioWarning` and an entry of the result's `warnings`: digital silence (which has no
        words), channels of opposite phase or that differ, speech of a lower sampling rate.

        Parameters
        ----------
        audio : path, binary file object, array, or (array, rate)
            Files as `asr decode` takes them. An array has shape (n,) or (n, n_channels): floating-point numbers of
            full scale 1, or integers of 16 or 32 bits. Channels are averaged, higher rates converted to the model's.
        rate : int, optional
            Samples a second of an array.
        adapt : bool, "input-network", "fmllr" or "vtln"
            As of `recognize_all`. A second of speech tells little of a speaker; a minute, in one piece of audio, pays.
        speaker, transforms : str and path, optional
            Who speaks, and a file of speakers' maps: that of this speaker, which is added if the file has none.

        Raises
        ------
        CorpusError, FeatureError
            When the audio cannot be read, is none, has no rate (an array) or is too short.
        DecodeError
            When no sentence of the grammar fits it, as where it is too short.
        ConfigError
            When the model was trained on archived features, or cannot be adapted.
        """
        if (speaker is None) != (speaker_transforms is None):
            raise ConfigError(
                "speaker= and speaker_transforms= go together: whose map it is, and the file that it is kept in"
            )
        if not adapt and speaker_transforms is None:
            return emit_warnings(recognize_audio(audio, rate, *self._ready(), self._details))
        options = SpeakerOptions(adapt, optional_path(speaker_transforms), self._details)
        return emit_warnings(recognize_speaker_audio(audio, rate, speaker or "speaker", *self._ready(), options))

    def recognize_all(
        self,
        audios: Iterable[Audio],
        *,
        rate: int | None = None,
        speakers: str | Sequence[str] | None = None,
        adapt: bool | AdaptationMethod = False,
        speaker_transforms: str | os.PathLike[str] | None = None,
        jobs: int = 1,
    ) -> Iterator[Result]:
        """Recognize many utterances; results come in their order.

        An utterance that cannot be recognized has a result without words, and its `error` has the reason. Other errors
        (a full disk, an interrupt) are raised. Warnings are those of `recognize`.

        Without `speakers`, audio is taken as results are asked for; with several `jobs`, a few ahead. With `speakers`,
        all audio is taken before the first result, and all utterances of a speaker are normalized together.

        Parameters
        ----------
        audios : iterable
            Each as in `recognize`.
        rate : int, optional
            Samples a second of arrays that come without.
        speakers : list of str, or str, optional
            The speaker of every utterance, or the one of all.
        adapt : bool, "input-network", "fmllr" or "vtln"
            Method of speaker adaptation in several passes, see `asr decode --adapt`. True is "input-network", for
            hybrids of kernel logistic classifiers; "fmllr" and "vtln" are for mixtures. Needs `speakers`.
        transforms : path, optional
            A file for the speakers' maps, by the names that `speakers` has: speakers whom it has keep theirs and are
            recognized in one pass, others are added. Needs `speakers`.
        jobs : int
            Threads; the words do not depend on their number.

        Raises
        ------
        ConfigError
            When there is not one speaker for each utterance, or the model cannot be adapted.
        """
        if speakers is None:
            if adapt or speaker_transforms is not None:
                adaptable_model(self.model, adapt, None)  # what is no method at all is told first
                raise ConfigError("adapt= and speaker_transforms= are of whole speakers; say who speaks with speakers=")
            found = threads(jobs).map(recognize_audio_or_fault, audios, rate, *self._ready(), self._details)
        else:
            options = SpeakerOptions(adapt, optional_path(speaker_transforms), self._details)
            known = list(audios), rate, speakers, *self._ready()
            found = iter(recognize_speakers_audio(*known, options, workers=threads(jobs)))
        return (emit_warnings(result) for result in found)

    def lattice(self, audio: Audio, *, rate: int | None = None, beam: float | None = None) -> Lattice:
        """The word lattice of one utterance, times in frames: what the search found at most `beam` below the best path.

        Parameters and errors are as of `recognize`; `beam` is by default eight times the grammar's scale.
        """
        return audio_lattice(audio, rate, *self._ready(), beam)

    def decode(
        self,
        output: str | os.PathLike[str],
        *,
        audio: Sequence[str | os.PathLike[str]] = (),
        speakers: str | None = None,
        data: str | os.PathLike[str] | None = None,
        root: str | os.PathLike[str] | None = None,
        adapt: bool | AdaptationMethod = False,
        speaker_transforms: str | os.PathLike[str] | None = None,
        mlf: bool = False,
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
        """Recognize audio files or a Kaldi data directory as the command `asr decode` does, and write the same files.

        `hyp.txt` has a line an utterance, `hyp.ctm` a line a word with its times, `failed.tsv` the utterances that
        could not be recognized, and with `mlf`, `hyp.mlf` words and times for HTK. `speaker_transforms` is a file of
        the speakers' transforms: those of known speakers are used, others are added. `speakers` ("file", "directory",
        "one" or a regular expression) groups audio files. `lattices` is a directory for word lattices, in the form
        `lattice_format` and as wide as `lattice_beam`. `n_best` lists so many sentences an utterance in `nbest.tsv`.
        With `mbr` the words are those with the least expected errors; with `confidence` the times have the words'
        confidences. `confusions` and `ratios` write `confusions.tsv` and `ratios.tsv`. The scores of the grammar
        `rescore`, named as for `with_grammar`, replace those of the search.

        Raises
        ------
        AsrError
            One of its kinds; DecodeError if no utterance at all could be recognized.
        """
        model, graph = self._ready(audio_only=False)
        lattice_options = LatticeOptions(
            directory=optional_path(lattices),
            form=lattice_format,
            beam=lattice_beam,
            n_best=n_best,
            mbr=mbr,
            confidence=self._details.confidence if confidence is None else confidence,
            confusions=confusions,
            rescore=None if rescore is None else grammar_for(model, self._vocabulary(), settled(rescore)),
        )
        if lattice_options.confidence or lattice_options.mbr:
            tell_what_they_promise(model.search.confidence, own_grammar=self._choice is None)
        return decode_files(
            model,
            graph,
            Path(output),
            audio=[Path(path) for path in audio],
            speakers=speakers,
            data=optional_path(data),
            root=optional_path(root),
            adapt=adapt,
            speaker_transforms=optional_path(speaker_transforms),
            mlf=mlf,
            lattices=lattice_options,
            ratios=self._details.ratios if ratios is None else ratios,
            workers=workers,
        )

    def align(self, audio: Audio, words: str | Sequence[str], *, rate: int | None = None) -> Alignment:
        """When each word and phone was spoken, of audio whose words are known; parameters as of `recognize`.

        Raises
        ------
        LexiconError
            When a word has no pronunciation; `add_word` gives it one.
        AlignmentError
            When the words do not fit into the audio.
        CorpusError, FeatureError, ConfigError
            As `recognize`.
        """
        transcript = tuple(map(nfc, words.split() if isinstance(words, str) else words))
        if not transcript:
            raise AlignmentError("there are no words to align; give what was said")
        return emit_warnings(align_audio(audio, transcript, rate, self._of_audio()))

    def align_directory(
        self,
        data: str | os.PathLike[str],
        output: str | os.PathLike[str],
        *,
        root: str | os.PathLike[str] | None = None,
        lexicon: str | os.PathLike[str] | None = None,
        textgrid: bool = False,
        workers: Workers = _SERIAL,
    ) -> Outcome:
        """Align a Kaldi data directory as the command `asr align` does, and write the same files.

        Raises
        ------
        AsrError
            One of its kinds; AlignmentError if no utterance at all could be aligned.
        """
        return align_data(
            self._model,
            Path(data),
            Path(output),
            root=optional_path(root),
            lexicon=optional_path(lexicon),
            textgrid=textgrid,
            workers=workers,
        )

    def with_grammar(self, grammar: GrammarChoice) -> Self:
        """A recognizer with another grammar, which shares the model.

        Parameters
        ----------
        grammar : list of sentences, str, int, path, Grammar or None
            Sentences, each a text or a sequence of words: exactly these can be said, one listed twice being twice as
            likely. "[unk]" in them is speech outside the grammar. "loop": any words in any order; "one": exactly one
            word; 7: exactly seven. A path: an ARPA n-gram model, word pairs, a word network of HTK, an OpenFst file or
            sentences, as `asr decode --grammar` takes them. An automaton made by `asr.grammar`. None: the model's own.

        Raises
        ------
        GrammarError
            When the file is no grammar, or a sentence has a word without pronunciation.
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

    def add_word(self, word: str, pronunciation: str | Sequence[str]) -> None:
        """Give a word a pronunciation, or one more than it has; the model file stays as it is.

        The word can be recognized where the grammar has it: in "loop" and "one" at once, in sentences that name it, and
        in the model's own n-gram, where it is as likely as the rarest word. The grammar is compiled again when it is
        next needed.

        Parameters
        ----------
        word : str
            Without white space.
        pronunciation : str or sequence of str
            Phones of the model, "HH AY B R AH D" or ["HH", "AY", ...]; stress digits that it lacks are left out.

        Raises
        ------
        LexiconError
            For a phone that the model lacks, no phones, or a word with white space or that grammars take for a mark.
        """
        word = nfc(word)
        require_word(word, allow_oov_phones=self._allow_untrained)
        phones = phones_of(word, pronunciation, self.phones)
        with self._lock:
            variants = (*self._model.lexicon.pronunciations.get(word, ()), phones)
            lexicon = Lexicon({**self._model.lexicon.pronunciations, word: variants}, self._model.lexicon.source)
            if word not in self._model.lexicon:
                self._added |= {word}
            self._model = replace(self._model, lexicon=lexicon)
            self._recognizable = self._graph = None
            if not isinstance(self._choice, Grammar):
                self._grammar = None
        warn_untrained_phones(word, phones, () if self._allow_untrained else self._model.untrained)

    def _copy(self, **search: Unpack[SearchOptions]) -> Self:
        """The same model, without its grammar."""
        other = type(self)(self._model, allow_oov_phones=self._allow_untrained, **asdict(self._details), **search)
        other._added, other._recognizable, other._source = self._added, self._recognizable, self._source
        other._width_given |= self._width_given
        return other

    def _ready(self, *, audio_only: bool = True) -> tuple[SpeechModel, StateGraph]:
        """The model, and its grammar compiled: what one call works with, whatever others change meanwhile."""
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
        """The words that can be recognized."""
        if self._recognizable is None:
            self._recognizable = recognizable(self._model, allow_oov_phones=self._allow_untrained)
        return self._recognizable

    def _of_audio(self) -> SpeechModel:
        if self._model.source == "archive":
            raise ConfigError(
                "the model was trained on feature archives (feats.scp), so it takes no audio. Decode a data directory "
                "with feats.scp, or train a model on audio"
            )
        return self._model
