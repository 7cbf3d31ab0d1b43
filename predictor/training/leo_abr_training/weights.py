"""How much a row counts in a fit: data sets are of very different sizes."""

from __future__ import annotations

import numpy as np

# A data set counts by its size to the power of one minus this.
BALANCE = 0.5


def balanced_weights(datasets: np.ndarray, balance: float = BALANCE) -> np.ndarray:
    """Weight [row] of mean 1, so that a data set counts by the square root of its rows, or as `balance` says. `datasets`: [row] index."""
    counts = np.bincount(datasets)
    weights = (1.0 / counts[datasets]) ** balance
    return weights / weights.mean()
