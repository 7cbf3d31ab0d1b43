"""Forecasts one second ahead, scored as in T3P's Table 1. Each predictor is one file of this folder, which calls `run`.

A predictor is fitted to the other recording groups: `fit(train, seed)` takes the list of their `Series`, and returns
`predict(series)`, the forecasts [second] of the seconds from `HISTORY_SECONDS` on.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

LAGS = 5
EPOCH_SECONDS = 15
# Seconds of a recording before its first forecast.
HISTORY_SECONDS = 20
# Percentages need at least this value: Mbit/s, or ms.
LEAST_VALUE = 1


@dataclass(frozen=True)
class Series:
    dataset: str
    group: str
    values: np.ndarray  # [second]
    epoch_second: float  # of the first value in the 15 s schedule; NaN without a clock

    def windows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The last values [row, lag], the second of the epoch [row] (NaN: unknown), and the target [row]."""
        ends = np.arange(HISTORY_SECONDS, len(self.values))
        lags = np.lib.stride_tricks.sliding_window_view(self.values, LAGS)[ends - LAGS]
        return lags, (self.epoch_second + ends) % EPOCH_SECONDS, self.values[ends]


Fit = Callable[[list[Series], int], Callable[[Series], np.ndarray]]


def windows_of(train: list[Series]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    parts = [one.windows() for one in train]
    return tuple(np.concatenate([part[i] for part in parts]) for i in range(3))


def run(name: str, fit: Fit) -> None:
    parser = argparse.ArgumentParser(description=f"Scores {name} one second ahead on recording groups left out.")
    parser.add_argument("folders", type=Path, nargs="+", help="folders of traces (CSV) with sidecars")
    parser.add_argument("--column", default="throughput_mbps", help="or rtt_ms, pop_ping_ms (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    files = sorted(file for folder in args.folders for file in folder.rglob("*.csv"))
    series = [one for file in files for one in read_series(file, args.column)]
    groups = sorted({one.group for one in series})
    if len(groups) < 2:
        parser.error(f"expected recordings of {args.column} from two recording groups, got {groups or 'none'}")
    pairs: dict[str, list[np.ndarray]] = {}
    for group in groups:
        predict = fit([one for one in series if one.group != group], args.seed)
        for one in (one for one in series if one.group == group):
            columns = [predict(one), one.values[HISTORY_SECONDS - 1 : -1], one.values[HISTORY_SECONDS:]]
            pairs.setdefault(one.dataset, []).append(np.stack(columns))
    print("| recordings | forecaster | forecasts | MAPE | RMSE | within 5 % | within 10 % |\n|---|---|---|---|---|---|---|")
    for dataset, parts in [*sorted(pairs.items()), ("pooled", [one for parts in pairs.values() for one in parts])]:
        predicted, last, actual = np.concatenate(parts, 1)
        for forecaster, values in ((name, predicted), ("last value", last)):
            known = actual >= LEAST_VALUE
            errors = np.abs(values[known] / actual[known] - 1)
            shares = [f"{100 * share:.1f} %" for share in (errors.mean(), (errors <= 0.05).mean(), (errors <= 0.1).mean())]
            cells = [dataset, forecaster, str(len(actual)), shares[0], f"{np.sqrt(((values - actual) ** 2).mean()):.2f}"]
            print(f"| {' | '.join(cells + shares[1:])} |")


def read_series(file: Path, column: str) -> list[Series]:
    """Means of each second. A second without a value ends a series of throughput; others repeat the one before."""
    with file.open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row.get(column)]
    if not rows:
        return []
    clock = "unix_s" if "unix_s" in rows[0] else "time_s"
    times = np.array([float(row[clock]) for row in rows])
    seconds = np.floor(times - times[0] + 1e-6).astype(int)
    sums = np.bincount(seconds, [float(row[column]) for row in rows])
    with np.errstate(invalid="ignore"):
        values = sums / np.bincount(seconds)
    if column != "throughput_mbps":
        for second in np.flatnonzero(np.isnan(values)):
            values[second] = values[second - 1]
    ends = [*np.flatnonzero(np.isnan(values)), len(values)]
    starts = [0, *(end + 1 for end in ends)]
    sidecar = file.with_suffix(".json")
    about = json.loads(sidecar.read_text(encoding="utf-8")) if sidecar.exists() else {}
    begin = times[0] if clock == "unix_s" else float(about.get("epoch_phase_s", np.nan)) + times[0]
    dataset = about.get("dataset", file.parent.name)
    return [
        Series(dataset, about.get("recording_group", dataset), values[start:end], begin + start)
        for start, end in zip(starts, ends)
        if end - start >= 2 * HISTORY_SECONDS
    ]
