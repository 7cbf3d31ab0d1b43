"""What all boosted trees here have in common: XGBoost's pinball objective, a tree per level in each round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class BoostingSettings:
    # Of each of the levels, for each step.
    rounds: int = 60
    depth: int = 5
    learning_rate: float = 0.1
    subsample: float = 0.7
    bins: int = 64
    # Rows that are learnt from, drawn at random: neighbours are of nearly the same seconds.
    rows: int = 15_000

    def parameters(self, levels: np.ndarray, seed: int) -> dict:
        """Of `xgboost.train`; the same on any number of cores."""
        return {
            "objective": "reg:quantileerror",
            "quantile_alpha": [float(level) for level in levels],
            "max_depth": self.depth,
            "eta": self.learning_rate,
            "subsample": self.subsample,
            "max_bin": self.bins,
            "tree_method": "hist",
            "multi_strategy": "one_output_per_tree",
            "nthread": 1,
            "seed": seed,
        }

    def drawn(self, chosen: np.ndarray, weights: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The chosen rows with their weights, or as many of them as `rows` says."""
        if len(chosen) <= self.rows:
            return chosen, weights
        at = np.sort(rng.choice(len(chosen), self.rows, replace=False))
        return chosen[at], weights[at]
