"""Boosted trees (XGBoost's pinball objective) on the rows of sessions, to compare the networks with; never shipped.

Every output begins with its quantile over all rows, and trees add to it. predictor/compared/boosted-trees.ts reads the file and
gives the same numbers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import xgboost

from .boosting import BoostingSettings
from .estimators import weighted_quantiles
from .fit import Settings
from .model_file import file_header
from .packing import packed
from .rows import Rows
from .weights import balanced_weights

FORMAT = "leo-abr boosted trees"
VERSION = 1
# Rows whose outcomes go with the model, for whoever evaluates it elsewhere.
GOLDEN_ROWS = 3


@dataclass(frozen=True)
class SessionTreeSettings(BoostingSettings):
    levels: tuple[float, ...] = Settings.levels
    rows: int = 30_000
    # As the networks': share of rows that are shown without what is known of the handover.
    masked: float = Settings.masked


@dataclass(frozen=True)
class SessionTrees:
    bases: np.ndarray  # [step, level] float32
    # One per step; each of its rounds has a tree per level.
    boosters: list[xgboost.Booster]
    levels: np.ndarray
    depth: int

    def quantiles(self, rows: Rows, chosen: np.ndarray) -> np.ndarray:
        """[row, step, level]: ln of ratios to the reference. Trees of one level know nothing of the others': sorted."""
        return self.of_features(rows.features[chosen])

    def of_features(self, features: np.ndarray) -> np.ndarray:
        steps = []
        for base, booster in zip(self.bases, self.boosters, strict=True):
            data = xgboost.DMatrix(features, base_margin=np.tile(base, (len(features), 1)), nthread=1)
            steps.append(booster.predict(data))
        return np.sort(np.stack(steps, 1), -1)


def fit_session_trees(rows: Rows, chosen: np.ndarray, settings: SessionTreeSettings, seed: int) -> SessionTrees:
    """Fits to the chosen rows (indices, at least one), or to as many of them as the settings say."""
    rng = np.random.default_rng(seed)
    chosen, weights = settings.drawn(chosen, balanced_weights(rows.dataset[chosen]), rng)
    features = rows.features[chosen].copy()
    is_handover = ~np.isnan(rows.unknown)
    masked = rng.random(len(features)) < settings.masked
    features[np.ix_(masked, is_handover)] = rows.unknown[is_handover]
    levels = np.array(settings.levels)
    # What outputs begin with is given row by row.
    parameters = {**settings.parameters(levels, seed), "base_score": 0.0}
    bases: list[np.ndarray] = []
    boosters: list[xgboost.Booster] = []
    for targets in rows.targets[chosen].T:
        known = ~np.isnan(targets)
        if not known.any():
            if not boosters:
                raise ValueError("rows: expected some with an outcome of the first step, got none")
            # No recording reaches so far: as the step before.
            bases.append(bases[-1])
            boosters.append(boosters[-1])
            continue
        base = weighted_quantiles(targets, weights, levels).astype(np.float32)
        data = xgboost.QuantileDMatrix(
            features[known],
            targets[known],
            weight=weights[known],
            base_margin=np.tile(base, (int(known.sum()), 1)),
            max_bin=settings.bins,
            nthread=1,
        )
        bases.append(base)
        boosters.append(xgboost.train(parameters, data, num_boost_round=settings.rounds))
    return SessionTrees(np.stack(bases), boosters, levels.astype(np.float32), settings.depth)


def session_trees_file(fitted: SessionTrees, rows: Rows, name: str, rank_correlation: float) -> dict:
    golden = np.linspace(0, len(rows.features) - 1, GOLDEN_ROWS).astype(int)
    return {
        **file_header(FORMAT, VERSION, fitted.levels, rows, name, rank_correlation),
        "depth": fitted.depth,
        "outputs": [
            output
            for base, booster in zip(fitted.bases, fitted.boosters, strict=True)
            for output in _outputs(base, booster, fitted.depth)
        ],
        "golden": [
            {"features": [float(value) for value in features], "logRatios": [round(float(value), 6) for value in row.ravel()]}
            for features, row in zip(rows.features[golden], fitted.quantiles(rows, golden), strict=True)
        ],
    }


def _outputs(base: np.ndarray, booster: xgboost.Booster, depth: int) -> list[dict]:
    """Of each level: what it begins with and its trees, whole, as bytes."""
    model = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]["model"]
    outputs = []
    for level, begin in enumerate(base):
        trees = [
            whole_tree(tree, depth)
            for tree, output in zip(model["trees"], model["tree_info"], strict=True)
            if output == level
        ]
        features, thresholds, leaves = (np.concatenate(arrays) for arrays in zip(*trees, strict=True))
        outputs.append(
            {
                "base": float(begin),
                "features": packed(features, "u1"),
                "thresholds": packed(thresholds, "<f4"),
                "leaves": packed(leaves, "<f4"),
            }
        )
    return outputs


def whole_tree(tree: dict, depth: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Feature and threshold of each inner node, level by level, and the leaves, of a tree of XGBoost's JSON as if all its
    branches were of one depth: below a leaf everything goes left, to that leaf."""
    inner = 2**depth - 1
    features = np.zeros(inner, int)
    thresholds = np.full(inner, np.inf)
    leaves = np.zeros(inner + 1)
    nodes = {0: 0}
    for at in range(2 * inner + 1):
        node = nodes.get(at)
        if node is None:
            continue
        left = tree["left_children"][node]
        if at >= inner:
            leaves[at - inner] = tree["split_conditions"][node]
        elif left < 0:
            nodes[2 * at + 1] = node
        else:
            features[at] = tree["split_indices"][node]
            thresholds[at] = tree["split_conditions"][node]
            nodes[2 * at + 1] = left
            nodes[2 * at + 2] = tree["right_children"][node]
    return features, thresholds, leaves
