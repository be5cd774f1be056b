"""Names and numbers in messages."""

from collections.abc import Iterable


def some(names: Iterable[str], most: int = 5) -> str:
    """Join the first few names with commas, and add the number of others."""
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def count(number: int, thing: str) -> str:
    """`1 utterance`, `1,539 utterances`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """Format a duration: `40 s`, `1 min 30 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
