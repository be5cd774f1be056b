"""Detection of binary files by their first bytes, with remedies."""

_MODEL = "Use its ARPA file"
_KINDS = {
    b"PK\x03\x04": (
        "a zip archive, or a spreadsheet",
        "Save a spreadsheet as CSV, or unpack the archive (unzip)",
    ),
    b"BZh91AY&SY": ("packed with bzip2", "Unpack it first (bunzip2), or pack it with gzip"),
    b"\xfd7zXZ\0": ("packed with xz", "Unpack it first (unxz), or pack it with gzip"),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", "Unpack it first (7z x)"),
    b"\x28\xb5\x2f\xfd": ("packed with zstd", "Unpack it first (unzstd), or pack it with gzip"),
    b"\x04\x22\x4d\x18": ("packed with lz4", "Unpack it first (unlz4), or pack it with gzip"),
    b"\x1f\x9d": ("packed with compress", "Unpack it first (uncompress), or pack it with gzip"),
    b"mmap lm http://kheafield.com/code": ("a binary language model of KenLM", _MODEL),
    b"SRILM_BINARY_NGRAM": (
        "a binary language model of SRILM",
        f"{_MODEL}, made by ngram -lm FILE -write-lm model.arpa",
    ),
    b"Trie Language Model": (
        "a binary language model of CMU Sphinx",
        f"{_MODEL}, made by sphinx_lm_convert -i FILE -o model.arpa -ofmt arpa",
    ),
    b"blmt": ("a binary language model of IRSTLM", f"{_MODEL}, made by compile-lm FILE --text=yes model.arpa"),
    b"Qblmt": ("a quantized language model of IRSTLM", _MODEL),
    b"\xd6\xfd\xb2\x7e": ("a binary transducer of OpenFst", "Use its text form, made by fstprint"),
    b"\xff\xfe": ("text in UTF-16", "Convert it first (iconv -f utf-16 -t utf-8)"),
    b"\xfe\xff": ("text in UTF-16", "Convert it first (iconv -f utf-16 -t utf-8)"),
    b"fLaC\0": ("FLAC audio", "Expected a text file"),
    b"OggS\0": ("Ogg audio", "Expected a text file"),
    b"%PDF-": ("a PDF document", "Save its text as a text file"),
}
_SPHINX_DMP = (b"Darpa Trigram LM", b"Darpa Quadrigram LM")  # after their length, in either byte order
_TAR = slice(257, 262)
_CONTROL = bytes({*range(32), 127} - {*b"\t\n\v\f\r\x1b"})
_LOOKED_AT, _FEWEST, _MANY = 1 << 16, 8, 0.02  # bytes; minimum number of control characters, and of their fraction


def fault_in_kind(content: bytes) -> str | None:
    """Return the type of a binary file and a remedy, as two sentences; None for a file that may be text."""
    for beginning, (kind, remedy) in _KINDS.items():
        if content.startswith(beginning):
            return f"is {kind}. {remedy}"
    if content[4:].startswith(_SPHINX_DMP):
        return "is a binary language model of CMU Sphinx. " + _KINDS[b"Trie Language Model"][1]
    if content.startswith(b"RIFF") and content[8:12] == b"WAVE":
        return "is WAV audio. Expected a text file"
    if content[_TAR] == b"ustar":
        return "is a tar archive. Unpack it first (tar xf)"
    return None


def is_binary(content: bytes) -> bool:
    """Whether bytes are not text in any encoding because of many control characters."""
    beginning = content[:_LOOKED_AT]
    n_control = len(beginning) - len(beginning.translate(None, _CONTROL))
    return n_control >= max(_FEWEST, _MANY * len(beginning))
