"""A simple estimator with the quantiles of its errors, as a network without hidden layers: one input, weight one.

It is the baseline for MPC-L's forecasts. Its model file is an ordinary one (`--fold-models`).
"""

from __future__ import annotations

import numpy as np

from .fit import Fitted, Settings, balanced_weights
from .network import Parameters
from .rows import Rows

# Smallest distance of quantiles, in ln of rate.
LEAST_GAP = 1e-3


def estimator_features(rows: Rows) -> list[str]:
    """Features that are rates relative to the reference, like the targets."""
    return [name for name in rows.feature_names if name.startswith("level-")]


def fit_estimator(rows: Rows, chosen: np.ndarray, feature: str, settings: Settings) -> Fitted:
    """Forecasts the feature's rate in every step, with the quantiles of ln(actual / estimated) over the chosen rows.

    Data sets are weighted as for the networks. Raises ValueError if the feature does not exist.
    """
    if feature not in estimator_features(rows):
        raise ValueError(f"estimator: expected one of {', '.join(estimator_features(rows))}, got {feature!r}")
    at = rows.feature_names.index(feature)
    errors = rows.targets[chosen] - rows.features[chosen, at : at + 1]
    weights = balanced_weights(rows.dataset[chosen], settings.balance)
    levels = np.array(settings.levels)
    middle = len(levels) // 2
    biases = np.empty((errors.shape[1], len(levels)), np.float32)
    for step in range(errors.shape[1]):
        quantiles = weighted_quantiles(errors[:, step], weights, levels)
        gaps = np.maximum(np.diff(quantiles), LEAST_GAP)
        # The inverse of the head, which adds softplus(raw) outwards from the median.
        raw = gaps + np.log(-np.expm1(-gaps))
        biases[step] = np.concatenate([raw[:middle], quantiles[middle : middle + 1], raw[middle:]])
    inputs = np.zeros((len(rows.feature_names), biases.size), np.float32)
    inputs[at, middle :: len(levels)] = 1
    parameters: Parameters = [inputs, biases.ravel()]
    return Fitted([parameters], levels.astype(np.float32))


def weighted_quantiles(values: np.ndarray, weights: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """The smallest known values whose cumulative weight reaches the levels."""
    known = ~np.isnan(values)
    order = np.argsort(values[known], kind="stable")
    ranked = values[known][order].astype(np.float64)
    below = np.cumsum(weights[known][order])
    return ranked[np.minimum(np.searchsorted(below, levels * below[-1]), len(ranked) - 1)]
