"""Normal scores of targets within forecast quantiles, and their rank correlation."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np


def normal_scores(levels: np.ndarray) -> np.ndarray:
    return np.array([NormalDist().inv_cdf(float(level)) for level in levels])


def scores_of(quantiles: np.ndarray, values: np.ndarray, levels: np.ndarray, limit: float = 3.0) -> np.ndarray:
    """Normal score [row, step] of each value: linear between its quantiles and beyond, within +-limit."""
    at = normal_scores(levels)
    below = (values[..., None] >= quantiles).sum(-1) - 1
    i = np.clip(below, 0, len(levels) - 2)
    low = np.take_along_axis(quantiles, i[..., None], -1)[..., 0]
    high = np.take_along_axis(quantiles, i[..., None] + 1, -1)[..., 0]
    score = at[i] + (at[i + 1] - at[i]) * (values - low) / np.maximum(high - low, 1e-4)
    return np.clip(score, -limit, limit)


def rank_correlation(scores: np.ndarray) -> float:
    """Mean correlation of normal scores of adjacent steps, over rows without unknown scores."""
    known = scores[~np.isnan(scores).any(1)]
    if len(known) < 3:
        return 0.0
    correlations = np.corrcoef(known.T)
    return float(np.diag(correlations, 1).mean())
