"""Boosted trees for quantiles (XGBoost's pinball objective), to compare with; never shipped.

They get what the temporal network gets, summed up as trees need it: single seconds, averages, extremes and spreads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xgboost

from .boosting import BoostingSettings
from .windows import EPOCH_SECONDS, LAGS, RATIO, SEEN, THIS_EPOCH, Windows

SINGLE_SECONDS = 15
SPANS = (2, 4, 8, 16, 32, LAGS)


@dataclass(frozen=True)
class QuantileTrees:
    # None for a step that no row of the training had.
    boosters: list[xgboost.Booster | None]
    levels: np.ndarray

    def quantiles(self, windows: Windows, chosen: np.ndarray) -> np.ndarray:
        """[row, step, level]: ln of ratios to the session's level. Trees of one level know nothing of the others: sorted."""
        features = xgboost.DMatrix(tree_features(windows, chosen))
        unknown = np.full((len(chosen), len(self.levels)), np.nan, np.float32)
        steps = [unknown if booster is None else booster.predict(features) for booster in self.boosters]
        return np.sort(np.stack(steps, 1), -1)


def tree_features(windows: Windows, chosen: np.ndarray) -> np.ndarray:
    """[row, feature] float32; NaN where not known."""
    history = windows.history[chosen]
    ratios = np.where(history[..., SEEN] > 0, history[..., RATIO], np.nan)
    columns = [ratios[:, -SINGLE_SECONDS:], windows.moment[chosen, :2], windows.geometry[chosen]]
    columns.append(windows.epoch_second[chosen, None])
    for span in SPANS:
        seen = history[:, -span:, SEEN]
        recent = history[:, -span:, RATIO]
        mean = recent.sum(1) / seen.sum(1)
        spread = np.sqrt(np.maximum(0, (recent**2).sum(1) / seen.sum(1) - mean**2))
        columns.append(np.stack([mean, spread, np.nanmin(ratios[:, -span:], 1), np.nanmax(ratios[:, -span:], 1)], 1))
    # Levels of this epoch so far and of the one before; unknown without a clock, or where nothing of it was seen.
    has_clock = ~np.isnan(windows.epoch_second[chosen])
    ages = np.arange(LAGS, 0, -1) - 0.5
    this_epoch = history[..., THIS_EPOCH] > 0
    before = ~this_epoch & (ages <= np.nan_to_num(windows.epoch_second[chosen])[:, None] + EPOCH_SECONDS)
    for epoch in (this_epoch, before):
        within = epoch & (history[..., SEEN] > 0) & has_clock[:, None]
        count = within.sum(1)
        level = np.where(within, history[..., RATIO], 0).sum(1) / np.maximum(count, 1)
        columns.append(np.where(count > 0, level, np.nan)[:, None])
    return np.concatenate(columns, 1, dtype=np.float32)


def fit_trees(
    windows: Windows, chosen: np.ndarray, row_weights: np.ndarray, levels: np.ndarray, settings: BoostingSettings, seed: int
) -> QuantileTrees:
    """Fits to the chosen rows (indices; a weight for each), or to as many of them as the settings say."""
    chosen, row_weights = settings.drawn(chosen, row_weights, np.random.default_rng(seed))
    features = tree_features(windows, chosen)
    parameters = settings.parameters(levels, seed)
    boosters: list[xgboost.Booster | None] = []
    for targets in windows.targets[chosen].T:
        known = ~np.isnan(targets)
        if not known.any():
            boosters.append(None)
            continue
        data = xgboost.QuantileDMatrix(
            features[known], targets[known], weight=row_weights[known], max_bin=settings.bins, nthread=1
        )
        boosters.append(xgboost.train(parameters, data, num_boost_round=settings.rounds))
    return QuantileTrees(boosters, levels)
