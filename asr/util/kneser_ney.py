"""Discounts of Kneser-Ney smoothing, for n-grams of words and of graphones."""

_SINGLE = 0.5


def modified_discounts(n1: int, n2: int, n3: int, n4: int) -> tuple[float, float, float, float]:
    """Return the discounts of counts of 0, 1, 2 and 3 or more, from the numbers of n-grams with counts of 1 to 4.

    Source: Chen and Goodman 1999. If one of the numbers is 0, or a discount out of range, all are that of a single one.
    """
    single = n1 / (n1 + 2 * n2) if n1 and n2 else _SINGLE
    if n1 and n2 and n3 and n4:
        modified = (0.0, single, 2 - 3 * single * n3 / n2, 3 - 4 * single * n4 / n3)
        if all(0 < value <= k for k, value in enumerate(modified) if k):
            return modified
    return (0.0, single, single, single)
