"""Models that have not learnt from what they are judged on: recording groups are left out whole, and judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from .network import pinball
from .rows import Rows
from .scores import rank_correlation, scores_of

# Normal scores between which the central 50 % and 90 % lie.
HALF = 0.67449
NINE_TENTHS = 1.64485


@dataclass(frozen=True)
class HeldOut:
    """Plain rows of one group and how a model that has not seen them does on them."""

    rows: np.ndarray  # indices
    scores: np.ndarray  # [row, step]: normal score of what came
    pinball: np.ndarray  # [row, step]


def training_sets(rows: Rows) -> dict[int | None, list[int]]:
    """The group that a fit leaves out (None: no group has to be), to the groups that are judged on the fit."""
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
    # Recordings of a group may all be too short for a row.
    quantiles = quantiles_of(rows.features[chosen]) if len(chosen) > 0 else np.empty((*targets.shape, len(levels)))
    return HeldOut(
        rows=chosen,
        scores=scores_of(quantiles, targets, levels),
        pinball=pinball(quantiles, targets, levels).mean(-1),
    )


def mean_rank_correlation(rows: Rows, judged: Iterable[HeldOut]) -> float:
    """Mean over data sets, so that the largest does not decide alone; within 0 to 0.95."""
    judged = list(judged)
    scores = np.concatenate([one.scores for one in judged])
    datasets = rows.dataset[np.concatenate([one.rows for one in judged])]
    correlations = [rank_correlation(scores[datasets == d]) for d in np.unique(datasets)]
    return float(np.clip(np.mean(correlations), 0, 0.95)) if correlations else 0.0


def scores_by_dataset(rows: Rows, judged: Iterable[HeldOut]) -> dict:
    """Pinball loss (mean over levels, of ln rate) and raw coverage per data set and step, and the rank correlation."""
    judged = list(judged)
    chosen = np.concatenate([one.rows for one in judged])
    scores = np.concatenate([one.scores for one in judged])
    losses = np.concatenate([one.pinball for one in judged])
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
