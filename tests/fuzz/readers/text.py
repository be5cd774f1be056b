"""Lexica, grammars, transcripts, CTM, labels of HTK: text files that are read alone."""

import gzip
import math
from contextlib import nullcontext, suppress
from pathlib import Path

import numpy as np

from asr.alignment.ctm import read_ctm, write_ctm
from asr.alignment.passages import read_unmatched
from asr.alignment.score_files import read_reasons, read_scores
from asr.corpus.htk_labels import read_labels, words_of, write_mlf
from asr.corpus.synth_sentences import read_sentence_grammar
from asr.decode.graph_compiler import compile_graph
from asr.grammar import Grammar, read_grammar, word_loop
from asr.hmm.topology import Topology
from asr.lexicon import Lexicon, read_lexicon
from asr.lexicon.graphemes import grapheme_lexicon
from asr.lexicon.multigraphs import read_multigraphs
from asr.lexicon.word_lists import read_words
from asr.scoring.bootstrap import wer_interval
from asr.scoring.files import read_transcripts, read_utt2spk
from asr.scoring.fold import read_fold
from asr.scoring.references import read_hypotheses, read_references
from asr.scoring.transcript import aligned_transcripts, alignments_as_sgml, hypotheses_as_trn, speaker_summary
from asr.scoring.wer import score_utterances
from asr.util.errors import CorpusError
from tests.fuzz.mutators.byte_mutators import spoil_bytes
from tests.fuzz.mutators.text_mutators import TEXT
from tests.fuzz.outcome import Unsound, check_mark
from tests.fuzz.reader import reader
from tests.openfst_files import State, fst_bytes

KALDI = b"# words\nONE W AH N\nTWO S UW\nSEVEN S AH N\nNO N UW\nNO N AH\n"
LEXICONP = b"ONE 1.0 W AH N\nTWO 0.5 S UW\nTWO 0.25 S AH\n"
CMU = b";;; words\nONE  W AH1 N\nONE(2)  W AH0 N # rare\nTWO  S UW1\n"
HTK = b'ONE [ONE] 0.5 W AH N sp\n\\\'TIS [] S UW sp\n"AB" S AH sp\nSENT-END [] sil\nTWO S UW sp\n'

ARPA = (
    b"a comment\n\\data\\\nngram 1=5\nngram 2=4\nngram 3=1\n\n\\1-grams:\n-99\t<s>\t-0.30103\n-0.69897\t</s>\n"
    b"-0.5\tONE\t-0.2\n-0.6\tTWO\t-0.1\n-0.9\tNO\n\n\\2-grams:\n-0.3\t<s> ONE\t-0.1\n-0.4\tONE TWO\n-0.2\tTWO </s>\n"
    b"-0.5\tONE NO\n\n\\3-grams:\n-0.1\t<s> ONE TWO\n\n\\end\\\n"
)
WORD_PAIR = b"* pairs\n>SENTENCE-END\nONE\nTWO\n>ONE\nTWO\nNO\n>TWO\nSENTENCE-END\nONE\n>NO\nSENTENCE-END\n"
SLF = (
    b'VERSION=1.0\nbase=10 lmscale=5\nN=7 L=9\nI=0 W=!NULL\nI=1 W=SENT-START\nI=2 W=ONE\nI=3 W="TWO"\nI=4 W=NO\n'
    b"I=5 W=!NULL\nI=6 W=SENT-END\nJ=0 S=0 E=1\nJ=1 S=1 E=2 l=-0.3\nJ=2 S=1 E=3 l=-0.6\nJ=3 S=2 E=5\nJ=4 S=3 E=5\n"
    b"J=5 S=5 E=2 l=-1\nJ=6 S=5 E=4 l=-0.5\nJ=7 S=4 E=5\nJ=8 S=5 E=6 l=-0.2\n"
)
HPARSE = (
    b'/* digits */\n$digit = ONE | "TWO";\n$more = <$digit> [ NO ];\n'
    b"( SENT-START ( $digit $more | { NO } ONE ) SENT-END )\n"
)
SLF_ON_LINKS = (
    b"VERSION=1.0\nstart=0 end=2\nNODES=3 LINKS=4\nJ=0 S=0 E=1 W=ONE\nJ=1 S=0 E=1 W=!NULL\nJ=2 S=1 E=1 W=TWO\n"
    + (b"J=3 S=1 E=2 W=NO v=1 a=-20.5\n")
)
FST_LABELS = {"<eps>": 0, "ONE": 1, "TWO": 2, "NO": 3, "#0": 4, "</s>": 5}
FST_STATES: list[State] = [
    (math.inf, [(1, 1, 0.5, 1), (2, 2, 1.0, 1), (0, 0, 0.25, 1)]),
    (math.inf, [(3, 3, 0.5, 0), (3, 3, 1.5, 2), (4, 0, 0.75, 2)]),
    (math.inf, [(2, 2, 0.5, 1), (5, 5, 0.25, 3)]),
    (0.0, []),
]
VECTOR_FST = fst_bytes(FST_STATES, inputs=FST_LABELS, outputs=FST_LABELS)
CONST_FST = fst_bytes(FST_STATES, inputs=FST_LABELS, kind="const")
ALIGNED_FST = fst_bytes(FST_STATES, outputs=FST_LABELS, kind="const", version=1)
SENTENCES = b"<SENTENCE> = <WHO> IS HERE | SHOW [ME] <WHO>\n<WHO> = ONE | TWO # both\n | NO ONE\n"

LEXICON = Lexicon({"ONE": (("W", "AH", "N"),), "TWO": (("S", "UW"),), "NO": (("N", "UW"), ("N", "AH"))})
TOPOLOGY = Topology(LEXICON.phones)
_FEW = 300  # maximum number of words, or of phones per word, of lexicons that are also compiled


def check_graph(lexicon: Lexicon, grammar: Grammar, topology: Topology) -> None:
    """Compile a decoding graph; every weight in it must be a number that a search can add."""
    graph = compile_graph(lexicon, grammar, topology)
    ends = graph.final_weight[graph.final_weight > -np.inf]
    for name, weights in (("arc", graph.arc_weight), ("jump", graph.jump_weight), ("final", ends)):
        if not np.isfinite(weights).all():
            raise Unsound(f"the graph has {name} weights that are not finite: {weights[~np.isfinite(weights)][:3]}")


@reader(
    "lexicon",
    {
        "kaldi.txt": KALDI,
        "lexiconp.txt": LEXICONP,
        "cmu.dict": CMU,
        "htk.dict": HTK,
        "x.gz": gzip.compress(KALDI, mtime=0),
    },
    TEXT,
)
def _lexicon(path: Path) -> None:
    lexicon = read_lexicon(path)
    lexicon.digest()
    topology = Topology(lexicon.phones)
    if len(lexicon) < _FEW and max(len(v) for variants in lexicon.pronunciations.values() for v in variants) < _FEW:
        check_graph(lexicon, word_loop(lexicon.words), topology)


@reader("lexicon-of-a-format", {"kaldi": KALDI, "cmu": CMU, "htk": HTK}, TEXT)
def _lexicon_of_a_format(path: Path) -> None:
    read_lexicon(path, format=path.name)  # type: ignore[arg-type]


@reader("multigraphs", {"table.txt": b"# letters\nCH ch # such\nss s\nh\n\xc3\xa9e e\n"}, TEXT)
def _multigraphs(path: Path) -> None:
    grapheme_lexicon([("such", "mass"), ("\u00e9e",)], read_multigraphs(path))


def _grammar(path: Path) -> None:
    check_graph(LEXICON, read_grammar(path, vocabulary=LEXICON.words), TOPOLOGY)


for _name, _seeds in {
    "arpa": {"plain.arpa": ARPA, "packed.arpa.gz": gzip.compress(ARPA, mtime=0)},
    "sentence-list": {"sentences.txt": b"# three\nONE TWO\nTWO\nTWO\nONE TWO NO NO\n"},
    "word-pair": {"plain.wp": WORD_PAIR, "packed.gz": gzip.compress(WORD_PAIR, mtime=0)},
    "word-network": {"nodes.slf": SLF, "links.slf": SLF_ON_LINKS, "packed.gz": gzip.compress(SLF, mtime=0)},
    "hparse": {"plain.gram": HPARSE, "packed.gz": gzip.compress(HPARSE, mtime=0)},
}.items():
    reader(_name, _seeds, TEXT)(_grammar)
reader("openfst", {"vector.fst": VECTOR_FST, "const.fst": CONST_FST, "aligned.fst": ALIGNED_FST}, (spoil_bytes,))(
    _grammar
)


reader(
    "openfst-with-words",
    {
        "G.fst": fst_bytes(FST_STATES),
        "words.txt": "".join(f"{word} {number}\n" for word, number in FST_LABELS.items()).encode(),
    },
    TEXT,
    tree=True,
)(lambda folder: _grammar(folder / "G.fst"))
reader("sentence-grammar", {"rules.txt": SENTENCES}, TEXT)(lambda path: read_sentence_grammar(path))


TRANSCRIPTS = {
    "ref": b"utt1 ONE TWO\nutt2 TWO NO NO\nutt3 NO\nutt4\n",
    "hyp": b"utt1 ONE TWO\nutt2 TWO ONE\nutt3 NO NO\n",
    "utt2spk": b"utt1 anna\nutt2 anna\nutt3 bert\nutt4 bert\n",
}
TRN = {
    "ref.trn": b"ONE TWO (utt1)\nTWO NO NO (utt2)\nNO (utt3)\n(utt4)\n",
    "hyp.trn": b"ONE TWO (utt1)\nTWO ONE (utt2)\nNO NO (utt3)\n",
    "utt2spk": TRANSCRIPTS["utt2spk"],
}


@reader("transcripts", TRANSCRIPTS, TEXT, tree=True, renames=True)
@reader("transcripts-trn", TRN, TEXT, tree=True, renames=True)
def _score(folder: Path) -> None:
    """What `asr score` does."""
    hypothesis, reference, utt2spk = (path for path in sorted(folder.iterdir()) if path.is_file())

    def read() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]], dict[str, str]]:
        return read_transcripts(reference), read_transcripts(hypothesis), read_utt2spk(utt2spk)

    references, hypotheses, speakers = check_mark((reference, hypothesis, utt2spk), read)
    report = score_utterances(references, hypotheses, speakers=speakers)
    interval = wer_interval(report, replicates=100)
    if not np.isfinite([report.wer, report.ser, interval.low, interval.high]).all():
        raise Unsound(f"rates that are not finite: WER {report.wer}, SER {report.ser}")
    speaker_summary(report)
    aligned_transcripts(report)


TIMED = {
    "hyp.ctm": b"rec1 A 0.20 0.10 ONE 0.9\nrec1 A 1.50 0.30 NO\nrec1 A 2.5 0.1 TWO\nrec2 1 0 1 NO\n",
    "ref.stm": b";; two\nrec1 A anna 0.00 1.00 <o,f> { ONE / TWO NO / @ } (NO)\nrec1 A bob 1.0 2.0 <o,m> NO\n"
    b"rec1 A x 2.0 3.0 <o,> IGNORE_TIME_SEGMENT_IN_SCORING\nrec2 1 bob 0.0 1.00 NO @\n",
}


@reader("stm", TIMED, TEXT, tree=True, renames=True)
def _stm(folder: Path) -> None:
    """`asr score` with times and alternatives."""
    hypothesis, reference = (path for path in sorted(folder.iterdir()) if path.is_file())
    references = check_mark((reference, hypothesis), lambda: read_references(reference))
    hypotheses = check_mark((reference, hypothesis), lambda: read_hypotheses(hypothesis, references))
    report = score_utterances(references.words, hypotheses, speakers=references.speakers)
    if len(hypotheses_as_trn(report).splitlines()) != len(references.words):
        raise Unsound("a segment is missing in the trn file")
    aligned_transcripts(report)
    alignments_as_sgml(report, "hyp")


@reader("alternatives", {"ref.trn": b"ONE { TWO / NO NO / @ } (u1)\n(TWO) { { ONE / @ } NO / TWO } (u2)\n"}, TEXT)
def _alternatives(path: Path) -> None:
    references = check_mark((path,), lambda: read_references(path))
    report = score_utterances(references.words, dict.fromkeys(references.words, ("ONE", "NO")))
    if report.errors > 2 * len(references.words) + report.words:
        raise Unsound("more errors than words")


@reader("fold-map", {"phones.map": b"aa aa\nao aa\nq\nzh sh\n"}, TEXT)
def _fold_map(path: Path) -> None:
    for column in ("", ":2", ":3"):
        with suppress(CorpusError) if column else nullcontext():
            check_mark((path,), lambda column=column: read_fold(f"{path}{column}"))


@reader(
    "ctm", {"words.ctm": b";; words\nutt1 1 0.00 0.25 ONE 0.9\nutt1 1 0.250 0.300 TWO\nutt2 A 1e-1 2. NO 1\n"}, TEXT
)
def _ctm(path: Path) -> None:
    rows = check_mark((path,), lambda: read_ctm(path))
    again = path.with_name("again")
    write_ctm(again, rows)
    if len(read_ctm(again)) != len(rows):
        raise Unsound("rows that were read, written and read again are not as many")


@reader(
    "transcript-scores",
    {
        "scores.tsv": b"utterance\tscore\ttrust\nutt1\t-0.5125\t0.9931\nutt2\t0.0000\t-\n",
        "suspects.tsv": b"kind\tname\tscore\treason\ttranscript\nlisted\tutt1\t-0.5\tamong 5\tONE TWO\n",
    },
    TEXT,
)
def _transcript_scores(path: Path) -> None:
    if path.suffix == ".tsv" and "suspects" in path.name:
        check_mark((path,), lambda: read_reasons(path))
    else:
        check_mark((path,), lambda: read_scores(path))


@reader(
    "passages",
    {
        "passages.tsv": b"utterance\tstart\tend\tstatus\twords\ttranscript\n"
        b"utt1\t0.000\t8.250\taligned\t2\tONE TWO\nutt1\t8.250\t21.5\twrong\t1\tNO\n"
        b"utt1\t30.125\t44.000\tuntranscribed\t0\t\nutt2\t0.0\t1e1\twrong\t1\tONE\n"
    },
    TEXT,
)
def _passages(path: Path) -> None:
    for name, found in check_mark((path,), lambda: read_unmatched(path)).items():
        times = [time for passage in found for time in passage]
        if times != sorted(times) or not all(map(math.isfinite, times)):
            raise Unsound(f"passages of {name!r} that are not in order of time: {times[:6]}")


@reader(
    "htk-labels",
    {
        "words.mlf": b'#!MLF!#\n"*/utt1.lab"\nONE\n"7"\n.\n'
        b"\"x/utt2.rec\"\n0 3000000 TWO -12.5\n3000000 4e6 'NO\\303\\251'\n.\n",
        "phones.mlf": b'#!MLF!#\n"*/utt1.rec"\n0 3100000 w -900.25 ONE -1600.5\n3100000 4000000 ah -4\n.\n',
        "utt1.lab": b"0 3000000 ONE\n3000000 4000000 TWO -1.5 LAST\n",
    },
    TEXT,
)
def _htk_labels(path: Path) -> None:
    labels = check_mark((path,), lambda: read_labels(path))
    again = path.with_name("again")
    write_mlf(again, labels)
    found = read_labels(again)
    if [*found] != [*labels] or any(
        [segment.label for segment in found[name]] != [segment.label for segment in labels[name]] for name in labels
    ):
        raise Unsound("labels that were written and read again are others")
    with suppress(CorpusError):
        read_labels(path, level=2)
    with suppress(CorpusError):
        words_of(path, labels)


@reader("word-list", {"words.txt": b"ONE\nTWO\n", "unknown-words.tsv": b"word\tcount\nONE\t3\nTWO\t1\n"}, TEXT)
def _word_list(path: Path) -> None:
    check_mark((path,), lambda: read_words(path))
