"""The temporal network on moments of simulated sessions, whose downloads have pauses between them, and its model file.

What it sees are the last seconds of downloading, wherever they lie in time (a row's bins), and a few of the row's features.
predictor/compared/temporal-network.ts computes the same.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from .fit import Settings
from .model_file import file_header
from .moments import LAGS, RATIO, Layout
from .packing import listed, packed
from .rows import Rows
from .temporal_network import WIDTHS, TemporalNetwork, TemporalSettings, fit_temporal
from .weights import balanced_weights

FORMAT = "leo-abr temporal network (sessions)"
VERSION = 1
EPOCH_SECONDS = 15
# Rows whose outcomes go with the model.
GOLDEN_ROWS = 4

# Of a second: ln of its rate to the reference; 1 where there was one, else all are 0; ln(1 + its age) / 3; sine and cosine of
# the position of its middle in the epoch, and how much of it lies in the epoch of the moment (0 where no handover is known).
CHANNELS = ("ratio", "seen", "age", "epoch-sine", "epoch-cosine", "this-epoch")
SEEN, AGE, EPOCH_SINE, EPOCH_COSINE, THIS_EPOCH = range(RATIO + 1, len(CHANNELS))
AGE_SCALE = 3
# Features as they are, and then sine and cosine of the moment's own position in the epoch (0 where not known).
ROW_FEATURES = ("observed", "level-120s", "level-0.4s", "level-2s", "silence", "unseen")
MOMENT_INPUTS = (*ROW_FEATURES, "now-sine", "now-cosine")
LAYOUT = Layout(
    channels=len(CHANNELS),
    features=len(MOMENT_INPUTS),
    clock_channels=[EPOCH_SINE, EPOCH_COSINE, THIS_EPOCH],
    clock_features=[MOMENT_INPUTS.index("now-sine"), MOMENT_INPUTS.index("now-cosine")],
    rates=[i for i, name in enumerate(MOMENT_INPUTS) if name.startswith("level-")],
)


@dataclass(frozen=True)
class SessionTemporalSettings(TemporalSettings):
    levels: tuple[float, ...] = Settings.levels
    # The rows have their stretched recordings.
    stretched: float = 0.0


class SessionMoments:
    """The rows' moments, as `Moments`; rows are those that have bins. Histories are made as they are asked for: all are large."""

    layout = LAYOUT

    def __init__(self, rows: Rows):
        if rows.bins is None:
            raise ValueError("rows: expected bins, got rows without: write them for this kind of model")
        if rows.bins.shape[1:] != (LAGS, 2):
            raise ValueError(f"rows: expected bins of shape {(LAGS, 2)}, got {rows.bins.shape[1:]}")
        self.rows = rows
        self.targets = rows.targets
        self._features = [rows.feature_names.index(name) for name in ROW_FEATURES]
        self._hats = [i for i, name in enumerate(rows.feature_names) if name.startswith("epoch-phase-")]
        self._known = rows.feature_names.index("handover-known")

    def inputs(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        features = self.rows.features[rows]
        bins = self.rows.bins[rows // self.rows.bins_every]
        ages = bins[..., 1]
        seen = ~np.isnan(ages)
        epoch_second = self._epoch_seconds(features)[:, None]
        is_known = features[:, self._known, None] > 0
        turn = np.float32(2 * np.pi / EPOCH_SECONDS)
        angles = turn * (epoch_second - ages - np.float32(0.5))
        history = np.zeros((*ages.shape, len(CHANNELS)), np.float32)
        history[..., RATIO] = bins[..., 0]
        history[..., SEEN] = 1
        history[..., AGE] = np.log1p(ages) / AGE_SCALE
        history[..., EPOCH_SINE] = np.sin(angles) * is_known
        history[..., EPOCH_COSINE] = np.cos(angles) * is_known
        history[..., THIS_EPOCH] = np.clip(epoch_second - ages, 0, 1) * is_known
        history[~seen] = 0
        now = np.concatenate([np.sin(turn * epoch_second), np.cos(turn * epoch_second)], 1) * is_known
        return history, np.concatenate([features[:, self._features], now], 1, dtype=np.float32)

    def _epoch_seconds(self, features: np.ndarray) -> np.ndarray:
        """[row] since the last handover, from the hats that the features spread the position over."""
        hats = features[:, self._hats]
        following = np.roll(hats, -1, 1)
        first = np.argmax(hats + following, 1)
        position = first + following[np.arange(len(hats)), first]
        return (position % len(self._hats) / len(self._hats) * EPOCH_SECONDS).astype(np.float32)


@dataclass(frozen=True)
class FittedSessionTemporal:
    network: TemporalNetwork
    settings: SessionTemporalSettings
    seed: int
    learnt_rows: int

    @property
    def levels(self) -> np.ndarray:
        return self.network.levels

    def quantiles(self, rows: Rows, chosen: np.ndarray) -> np.ndarray:
        """[row, step, level] of rows that have bins: ln of ratios to the reference."""
        return self.network.quantiles(SessionMoments(rows), chosen)


def fit_session_temporal(
    rows: Rows, chosen: np.ndarray, settings: SessionTemporalSettings, seed: int
) -> FittedSessionTemporal:
    """Fits to the chosen rows (indices of rows that have bins, at least one). The same arguments give the same networks."""
    levels = np.array(settings.levels, np.float32)
    weights = balanced_weights(rows.dataset[chosen])
    network = fit_temporal(SessionMoments(rows), chosen, weights, levels, settings, seed)
    return FittedSessionTemporal(network, settings, seed, len(chosen))


def session_temporal_file(fitted: FittedSessionTemporal, rows: Rows, name: str, rank_correlation: float) -> dict:
    """The model file (predictor/compared/temporal-model.ts reads it), with what it gives for a few rows that have bins."""
    binned = np.arange(len(rows.bins)) * rows.bins_every
    golden = binned[np.linspace(0, len(binned) - 1, GOLDEN_ROWS).astype(int)]
    return {
        **file_header(FORMAT, VERSION, fitted.levels, rows, name, rank_correlation),
        "widths": list(WIDTHS),
        "channels": list(CHANNELS),
        "moment": list(MOMENT_INPUTS),
        "networks": [
            [
                {"weights": packed(weights), "biases": packed(biases)}
                for weights, biases in zip(one[::2], one[1::2], strict=True)
            ]
            for one in fitted.network.members
        ],
        "fit": {
            "settings": asdict(fitted.settings),
            "seed": fitted.seed,
            "rows": fitted.learnt_rows,
            "numpy": np.__version__,
        },
        "golden": [_golden(fitted, rows, row) for row in golden],
    }


def _golden(fitted: FittedSessionTemporal, rows: Rows, row: int) -> dict:
    bins = rows.bins[row // rows.bins_every]
    # Those that there were; the last ones of as many as are looked back on.
    bins = bins[~np.isnan(bins[:, 1])]
    return {
        "features": listed(rows.features[row]),
        "ratios": listed(bins[:, 0]),
        "ages": listed(bins[:, 1]),
        "logRatios": listed(fitted.quantiles(rows, np.array([row]))),
    }
