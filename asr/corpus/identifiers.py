"""Valid names of utterances, speakers and recordings.

Names become file names (TextGrids), archive members (states.npz), keys of lines (lists, CTM, hyp.txt) and prefixes of
copies (`NAME/CHANGE`, which is not a valid name). Names are checked on reading, so that none can break these formats or
escape from its directory later.
"""

MAX_NAME_LENGTH = 200
"""Bytes of UTF-8: file names have at most 255, including prefixes and endings."""


def fault_in_key(name: str) -> str | None:
    """Return why `name` cannot be a key in lists, transcripts or CTM files, as the end of a sentence, or None.

    Outputs of other programs only need to satisfy this rule; names of files must pass `fault_in_name`.
    """
    if not name or name.split() != [name]:
        return "must be one word without white space"
    if not name.isprintable():
        return "has a character that cannot be printed"
    if name.startswith(";;"):
        return "begins like a comment (;;); begin it with a letter or a digit"
    return None


def fault_in_name(name: str) -> str | None:
    """Return why `name` cannot name an utterance or a speaker, as the end of a sentence, or None."""
    fault = fault_in_key(name)
    if fault is not None:
        return fault
    if "/" in name or "\\" in name:
        return "has a slash; use '_' or '-' instead"
    if name in (".", ".."):
        return "is the name of a folder"
    if len(name.encode("utf-8", "surrogatepass")) > MAX_NAME_LENGTH:
        return f"is longer than {MAX_NAME_LENGTH} bytes"
    return None
