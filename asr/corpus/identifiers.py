"""The one rule for the names of utterances, speakers and recordings.

A name becomes a file's name (TextGrids), a member of an archive (states.npz), the key of a line (lists, CTM, hyp.txt)
and part of the names of copies (`NAME/CHANGE`, which no name can be). It is checked where it is read, so that none of
these places can be broken by it, or led out of its directory, hours later.
"""

MAX_NAME_LENGTH = 200
"""Bytes of UTF-8: a file's name has at most 255, and some are needed for what is put around it."""


def fault_in_key(name: str) -> str | None:
    """Why a line of a list, transcript or CTM file cannot begin with `name`, as the end of a sentence; None if it can.

    What other programs wrote is scored by this rule alone; names that become files have to pass `fault_in_name`.
    """
    if not name or name.split() != [name]:
        return "must be one word without white space"
    if not name.isprintable():
        return "holds a character that cannot be printed"
    if name.startswith(";;"):
        return "begins like a comment; begin it with a letter or a digit"
    return None


def fault_in_name(name: str) -> str | None:
    """Why `name` cannot name an utterance or a speaker, as the end of a sentence; None if it can."""
    fault = fault_in_key(name)
    if fault is not None:
        return fault
    if "/" in name or "\\" in name:
        return "holds a slash, so that it would name a folder; use '_' or '-' in its place"
    if name in (".", ".."):
        return "names a folder"
    if len(name.encode("utf-8", "surrogatepass")) > MAX_NAME_LENGTH:
        return f"is longer than {MAX_NAME_LENGTH} bytes"
    return None
