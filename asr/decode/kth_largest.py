"""The k-th largest of some values: the score below which tokens are too many."""

from discriminants.compiled import njit


@njit(cache=True, nogil=True)
def kth_largest(values, k):
    """The value with k - 1 larger or equal ones before it, by Hoare's selection (1961); reorders `values`."""
    low, high = 0, len(values) - 1
    while low < high:
        pivot = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] > pivot:
                left += 1
            while values[right] < pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if k - 1 <= right:
            high = right
        elif k - 1 >= left:
            low = left
        else:
            break
    return values[k - 1]
