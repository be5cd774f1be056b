"""Public files of Resource Management: CMU's cepstra, and the Kaldi project's word-pair transducer.

The addresses are those of Kaldi, `egs/rm/s4/getdata.sh` (Panayotov 2012).
"""

from asr.grammar.openfst_magic import FST_MAGIC
from asr.util.text_lines import GZIP_MAGIC
from recipes.download import Source

CEPSTRA = Source(
    "rm1_cepstra.tar.gz",
    (
        "http://www.speech.cs.cmu.edu/databases/rm1/rm1_cepstra.tar.gz",
        "http://sourceforge.net/projects/kaldi/files/rm1_cepstra.tar.gz",
        "https://sourceforge.net/projects/kaldi/files/rm1_cepstra.tar.gz/download",
    ),
    GZIP_MAGIC,
    top="rm1",
)
WORD_PAIRS = Source(
    "RM_G.fst",
    (
        "http://sourceforge.net/projects/kaldi/files/RM_G.fst",
        "https://sourceforge.net/projects/kaldi/files/RM_G.fst/download",
    ),
    FST_MAGIC,
)
