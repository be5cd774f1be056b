"""A smaller input with the same outcome: ever shorter pieces left out (Zeller and Hildebrandt 2002, simplified)."""

import time
from collections.abc import Callable


def smaller(content: bytes, still_fails: Callable[[bytes], bool], seconds: float = 0.5) -> bytes:
    """`content` without pieces that do not matter; what is found in that time."""
    end = time.monotonic() + seconds
    piece = max(1, len(content) // 2)
    while time.monotonic() < end:
        start, found = 0, False
        while start < len(content) and time.monotonic() < end:
            shorter = content[:start] + content[start + piece :]
            if shorter != content and still_fails(shorter):
                content, found = shorter, True
            else:
                start += piece
        if piece == 1 and not found:
            break
        piece = max(1, piece // 2)
    return content
