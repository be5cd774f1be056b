"""Fast exp of non-positive arguments in place; its time is negligible compared to a matrix product."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from discriminants.util.numba_cache import njit

_LOG2_E = np.float32(1.4426950408889634)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)  # Cody and Waite's split of ln 2
_LOWEST = np.float32(-87.0)  # exp(-87.3) is the smallest normal float32
_HALF, _ONE, _ZERO = np.float32(0.5), np.float32(1.0), np.float32(0.0)
# Minimax coefficients of (exp(r) - 1 - r) / r^2 on |r| <= ln(2)/2 (Cephes, expf), highest power first.
_P0, _P1, _P2, _P3, _P4, _P5 = (
    np.float32(c)
    for c in (
        1.9875691500e-4,
        1.3981999507e-3,
        8.3334519073e-3,
        4.1665795894e-2,
        1.6666665459e-1,
        5.0000001201e-1,
    )
)


@intrinsic
def _two_to_the(typing_context: Any, exponent: Any) -> Any:
    """Compute 2**n for a whole float32 n, by writing n + 127 into the exponent bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        int32 = ir.IntType(32)
        n = builder.fptosi(arguments[0], int32)
        bits = builder.shl(builder.add(n, ir.Constant(int32, 127)), ir.Constant(int32, 23))
        return builder.bitcast(bits, ir.FloatType())

    return types.float32(types.float32), generate


@njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def exp_float32(x: float) -> float:
    """Compute exp(x) of a float32 of at most 80, for compiled loops; 0 below -87, relative error below 2e-7."""
    n = np.floor((x if x > _LOWEST else _LOWEST) * _LOG2_E + _HALF)
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    p = ((((_P0 * r + _P1) * r + _P2) * r + _P3) * r + _P4) * r + _P5
    y = (p * r * r + r + _ONE) * _two_to_the(n)  # type: ignore[call-arg]
    return _ZERO if x < _LOWEST else y


@njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def _exp_float32(values: np.ndarray) -> None:
    # One in-place argument: with two arrays the compiler would guard against aliasing and would not vectorize.
    for i in range(values.size):
        values[i] = exp_float32(values[i])


def exp_in_place(values: np.ndarray) -> np.ndarray:
    """Replace every entry, at most about 0 (up to 80 is correct), by its exponential and return the array.

    float32 entries below -87 become exactly 0; elsewhere the relative error is below 2e-7. NaN stays NaN. Raises
    ValueError if the array is not contiguous (a copy would be changed instead of it).
    """
    if values.dtype != np.float32:
        return np.exp(values, out=values)
    flat = values.reshape(-1, order="A")
    if not np.shares_memory(flat, values) and values.size:
        raise ValueError("exp_in_place needs a contiguous array")
    _exp_float32(flat)
    return values
