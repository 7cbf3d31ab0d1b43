"""Moments of recordings, one a second: what was seen in the 64 s before, and the capacity that followed.

A recording is a series of values, one a second (`leo-abr evaluate` writes them): a link that is always downloaded from. All
rates are ln of ratios to the session's own level, the average that fades with 30 s, so that a link twice as fast looks the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .geometry import GEOMETRY_FEATURES, geometry_features, marked
from .moments import LAGS, RATIO, Layout

EPOCH_SECONDS = 15
# Second of the epoch schedule at which Starlink hands over: 12, 27, 42 and 57 of the minute.
HANDOVER_SECOND = 12
REFERENCE_SECONDS = 30
LONG_SECONDS = 120
# Slower than this share of the session's level counts as this share.
LEAST_RATIO = 0.01
# Outcomes below this share of the recording's mean count as this share: a logarithm needs a floor.
LEAST_SHARE = 0.003
# Of bit/s, in the series' Mbit/s: before anything came.
LEAST_REFERENCE = 1e-6

# Channels of the history. Those of the clock are nought where the recording has none.
SEEN, EPOCH_SINE, EPOCH_COSINE, THIS_EPOCH = range(RATIO + 1, RATIO + 5)
CLOCK = [EPOCH_SINE, EPOCH_COSINE, THIS_EPOCH]
CHANNELS = 5
# What else a moment is known by: how long the session has lasted, its level of 120 s, and the geometry with its flags.
LASTED, LONG_LEVEL = range(2)
MOMENT_FEATURES = 2 + 2 * len(GEOMETRY_FEATURES)
LAYOUT = Layout(
    channels=CHANNELS, features=MOMENT_FEATURES, clock_channels=CLOCK, clock_features=[], rates=[LONG_LEVEL]
)


@dataclass(frozen=True)
class Windows:
    """Arrays have one entry per row, a moment."""

    history: np.ndarray  # [row, lag, channel] float32, the oldest second first
    moment: np.ndarray  # [row, feature] float32: `MOMENT_FEATURES`
    geometry: np.ndarray  # [row, feature] float32: `GEOMETRY_FEATURES`, NaN where not known
    epoch_second: np.ndarray  # [row] seconds since the last handover of the schedule; NaN without a clock
    targets: np.ndarray  # [row, step] float32: mean capacity within the step; NaN after the recording's end
    floor: np.ndarray  # [row]: no outcome and no forecast counts as less
    reference: np.ndarray  # [row]: ln of the session's level, in Mbit/s
    seconds: np.ndarray  # [row] of the recording before the moment
    series: np.ndarray  # [row] index of the recording
    group: np.ndarray  # [row] index into `groups`
    dataset: np.ndarray  # [row] index into `datasets`
    groups: list[str]
    datasets: list[str]

    @property
    def layout(self) -> Layout:
        return LAYOUT

    def inputs(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.history[rows], self.moment[rows]


def windows_of(series: Sequence[dict], step_ends: Sequence[float], first_second: int) -> Windows:
    """Moments of all series from `first_second` on that have a second left.

    Of a series are used `values` (Mbit/s, one a second), `group`, `dataset`, `epochSecond` (of the first value; None where
    there is no clock) and, where it has it, `geometry`: an entry per value, see geometry.py. Steps end at whole seconds.
    """
    if any(end != int(end) for end in step_ends):
        raise ValueError(f"step_ends: expected whole seconds, got {list(step_ends)}")
    groups = sorted({one["group"] for one in series})
    datasets = sorted({one["dataset"] for one in series})
    parts = [_windows(one, [int(end) for end in step_ends], first_second) for one in series]
    if sum(len(part["targets"]) for part in parts) == 0:
        raise ValueError(f"series: expected one of more than {first_second} s, got none")
    counts = [len(part["targets"]) for part in parts]
    arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Windows(
        **arrays,
        series=np.repeat(np.arange(len(series)), counts),
        group=np.repeat([groups.index(one["group"]) for one in series], counts),
        dataset=np.repeat([datasets.index(one["dataset"]) for one in series], counts),
        groups=groups,
        datasets=datasets,
    )


def _windows(one: dict, step_ends: list[int], first_second: int) -> dict[str, np.ndarray]:
    values = np.asarray(one["values"], np.float64)
    count = len(values)
    ends = np.arange(first_second, max(first_second, count))
    reference = np.log(np.maximum(faded(values, REFERENCE_SECONDS), LEAST_REFERENCE))[ends]
    long = np.log(np.maximum(faded(values, LONG_SECONDS), LEAST_REFERENCE))[ends]

    at = ends[:, None] - np.arange(LAGS, 0, -1)
    is_seen = at >= 0
    rates = values[np.maximum(at, 0)]
    least = LEAST_RATIO * np.exp(reference)[:, None]
    history = np.zeros((len(ends), LAGS, CHANNELS), np.float32)
    history[..., RATIO] = np.where(is_seen, np.log(np.maximum(rates, least)) - reference[:, None], 0)
    history[..., SEEN] = is_seen
    epoch_second = np.full(len(ends), np.nan)
    if one["epochSecond"] is not None:
        since = one["epochSecond"] - HANDOVER_SECOND
        angle = 2 * np.pi * (since + at + 0.5) / EPOCH_SECONDS
        history[..., EPOCH_SINE] = np.sin(angle) * is_seen
        history[..., EPOCH_COSINE] = np.cos(angle) * is_seen
        epoch_second = (since + ends) % EPOCH_SECONDS
        # A second belongs to the epoch that its middle lies in.
        history[..., THIS_EPOCH] = (ends[:, None] - at - 0.5 <= epoch_second[:, None]) & is_seen

    geometry = np.full((len(ends), len(GEOMETRY_FEATURES)), np.nan, np.float32)
    seconds = one.get("geometry")
    if seconds is not None:
        if len(seconds) != count:
            raise ValueError(f"geometry of {one['dataset']}: expected an entry for each of {count} values, got {len(seconds)}")
        # The newest second that has been.
        for row, end in enumerate(ends):
            geometry[row] = geometry_features(seconds[end - 1], f"geometry[{end - 1}] of {one['dataset']}")
    lasted = np.log1p(np.minimum(ends, LONG_SECONDS)) / 2
    moment = np.concatenate([np.stack([lasted, long - reference], 1), marked(geometry)], 1)

    floor = np.log(np.maximum(LEAST_SHARE * values.mean(), LEAST_REFERENCE)) if count > 0 else 0.0
    sums = np.concatenate([[0.0], np.cumsum(values)])
    targets = np.full((len(ends), len(step_ends)), np.nan, np.float32)
    begin = 0
    for step, end in enumerate(step_ends):
        inside = ends + end <= count
        mean = (sums[ends[inside] + end] - sums[ends[inside] + begin]) / (end - begin)
        targets[inside, step] = np.log(np.maximum(mean, np.exp(floor))) - reference[inside]
        begin = end
    return {
        "history": history,
        "moment": moment.astype(np.float32),
        "geometry": geometry,
        "epoch_second": epoch_second,
        "targets": targets,
        "floor": floor - reference,
        "reference": reference,
        "seconds": ends,
    }


def faded(values: np.ndarray, constant: float) -> np.ndarray:
    """Averages [second] of all values before each second, weighted as they fade; nought before the first."""
    keep = np.exp(-1 / constant)
    averages = np.zeros(len(values))
    total = weight = 0.0
    for i, value in enumerate(values):
        averages[i] = total / weight if weight > 0 else 0.0
        total = keep * total + (1 - keep) * value
        weight = keep * weight + (1 - keep)
    return averages
