"""Cross-validation: whole recording groups are held out and evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from .network import pinball
from .rows import Rows

# Normal scores that bound the central 50 % and 90 %.
HALF = 0.67449
NINE_TENTHS = 1.64485


@dataclass(frozen=True)
class HeldOut:
    """Plain rows of one group, and the results of a model that was not trained on the group."""

    rows: np.ndarray  # indices
    scores: np.ndarray  # [row, step]: normal score of the target
    pinball: np.ndarray  # [row, step]


def training_sets(rows: Rows) -> dict[int | None, list[int]]:
    """Maps the group that a fit leaves out (None: none) to the groups that the fit is evaluated on."""
    trained = set(np.unique(rows.group[rows.training(None)]).tolist())
    sets: dict[int | None, list[int]] = {}
    for group in range(len(rows.groups)):
        sets.setdefault(group if group in trained else None, []).append(group)
    return sets


def held_out_of(
    rows: Rows, quantiles_of: Callable[[np.ndarray], np.ndarray], levels: np.ndarray, group: int
) -> HeldOut:
    """`quantiles_of`: [row, step, level] of features [row, feature]."""
    chosen = np.flatnonzero((rows.group == group) & rows.is_plain)
    targets = rows.targets[chosen]
    # A group has no rows if its recordings are too short.
    quantiles = quantiles_of(rows.features[chosen]) if len(chosen) > 0 else np.empty((*targets.shape, len(levels)))
    return HeldOut(
        rows=chosen,
        scores=scores_of(quantiles, targets, levels),
        pinball=pinball(quantiles, targets, levels).mean(-1),
    )


def mean_rank_correlation(rows: Rows, evaluated: Iterable[HeldOut]) -> float:
    """Unweighted mean over data sets, so that the largest does not dominate; 0 to 0.95."""
    evaluated = list(evaluated)
    scores = np.concatenate([one.scores for one in evaluated])
    datasets = rows.dataset[np.concatenate([one.rows for one in evaluated])]
    correlations = [rank_correlation(scores[datasets == d]) for d in np.unique(datasets)]
    return float(np.clip(np.mean(correlations), 0, 0.95)) if correlations else 0.0


def scores_by_dataset(rows: Rows, evaluated: Iterable[HeldOut]) -> dict:
    """Pinball loss (of ln rate, mean over quantile levels) and coverage per data set and step, and rank correlation."""
    evaluated = list(evaluated)
    chosen = np.concatenate([one.rows for one in evaluated])
    scores = np.concatenate([one.scores for one in evaluated])
    losses = np.concatenate([one.pinball for one in evaluated])
    datasets = {}
    for d in np.unique(rows.dataset[chosen]):
        of = rows.dataset[chosen] == d
        known = ~np.isnan(losses[of])
        count = np.maximum(1, known.sum(0))
        within = np.abs(np.where(known, scores[of], np.inf))
        datasets[rows.datasets[d]] = {
            "rows": int(of.sum()),
            "pinball": _rounded(np.where(known, losses[of], 0).sum(0) / count),
            "coverage50": _rounded((within <= HALF).sum(0) / count),
            "coverage90": _rounded((within <= NINE_TENTHS).sum(0) / count),
            "rankCorrelation": round(rank_correlation(scores[of]), 3),
        }
    return {"stepEndsSeconds": rows.step_ends.tolist(), "datasets": datasets}


def _rounded(values: np.ndarray) -> list[float]:
    return [round(float(value), 5) for value in values]


def scores_of(quantiles: np.ndarray, values: np.ndarray, levels: np.ndarray, limit: float = 3.0) -> np.ndarray:
    """Normal score [row, step] of each value: linear between its quantiles and beyond, within +-limit."""
    at = np.array([NormalDist().inv_cdf(float(level)) for level in levels])
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
