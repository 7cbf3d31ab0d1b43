"""`python -m leo_abr_training.distributions`: probabilistic models side by side on moments that none has learnt from.

A temporal convolution network and boosted trees, one of each per recording group, without the group; the textbook's estimators
with quantiles of the errors that they make in the other groups; and forecasts that come with the series. For `leo-abr evaluate`;
never shipped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

# Sums of one order whatever the machine. Set before numpy loads.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

from .folds import HALF, NINE_TENTHS  # noqa: E402
from .network import pinball  # noqa: E402
from .scores import scores_of  # noqa: E402
from .temporal_file import temporal_file  # noqa: E402
from .temporal_network import TemporalSettings, fit_temporal  # noqa: E402
from .weights import balanced_weights  # noqa: E402
from .windows import Windows, faded, windows_of  # noqa: E402

TEMPORAL, TREES = "temporal network", "boosted trees"
# Takes windows, rows, their weights, levels and a seed; what it returns gives quantiles [row, step, level] of rows.
Fit = Callable[[Windows, np.ndarray, np.ndarray, np.ndarray, int], object]

# As in the scores of the built-in forecaster (cli/train/forecast-scores.ts).
HARMONIC_SECONDS = 5
FADING_SECONDS = (2, 8, 30)
LEAST_SETTLED = 30


def main() -> int:
    parser = argparse.ArgumentParser(prog="leo_abr_training.distributions")
    parser.add_argument("--series", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--temporal", type=Path, help="file for a temporal network of all series")
    parser.add_argument("--name", default="temporal network", help="name in that file")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    header = json.loads(args.series.read_text(encoding="utf-8"))
    series = [one for one in header["series"] if one["kind"] == "throughput"]
    levels = np.array(header["levels"])
    if len({one["group"] for one in series}) < 2:
        print("distributions: one recording group only, nothing is left to learn from", flush=True)
        args.out.write_text("null", encoding="utf-8")
        return 0
    windows = windows_of(series, header["stepEndsSeconds"], header["historySeconds"])
    forecasts = {**given_quantiles(series, windows, levels), **held_out_quantiles(windows, levels, _fits(), args.seed)}
    forecasts |= estimator_quantiles(series, windows, levels)
    scores = {
        "stepEndsSeconds": header["stepEndsSeconds"],
        "levels": header["levels"],
        "scores": distribution_scores(windows, forecasts, levels, header["stepEndsSeconds"]),
    }
    args.out.write_text(json.dumps(scores, allow_nan=False), encoding="utf-8")
    if args.temporal is not None:
        everything = np.arange(len(windows.targets))
        weights = balanced_weights(windows.dataset)
        fitted = fit_temporal(windows, everything, weights, levels, TemporalSettings(), args.seed)
        file = temporal_file(fitted, windows, header["stepEndsSeconds"], args.name, args.seed)
        args.temporal.write_text(json.dumps(file, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    return 0


def _fits() -> dict[str, Fit]:
    # Here, so that everything but the trees needs numpy alone.
    from .boosting import BoostingSettings
    from .quantile_trees import fit_trees

    return {
        TEMPORAL: lambda *rest: fit_temporal(*rest[:-1], TemporalSettings(), rest[-1]),
        TREES: lambda *rest: fit_trees(*rest[:-1], BoostingSettings(), rest[-1]),
    }


def held_out_quantiles(
    windows: Windows, levels: np.ndarray, fits: Mapping[str, Fit], seed: int
) -> dict[str, np.ndarray]:
    """Forecasts [row, step, level] by name, of each recording group by models that have not learnt from it."""
    shape = (*windows.targets.shape, len(levels))
    forecasts = {name: np.full(shape, np.nan, np.float32) for name in fits}
    for done, group in enumerate(windows.groups):
        train = np.flatnonzero(windows.group != done)
        test = np.flatnonzero(windows.group == done)
        spent = []
        for name, fit in fits.items():
            begun = time.monotonic()
            fitted = fit(windows, train, balanced_weights(windows.dataset[train]), levels, seed)
            spent.append(f"{name} {time.monotonic() - begun:.0f} s")
            if len(test) > 0:
                forecasts[name][test] = fitted.quantiles(windows, test)
        print(f"distributions: group {done + 1} of {len(windows.groups)} ({group}): {', '.join(spent)}", flush=True)
    return forecasts


def given_quantiles(series: list[dict], windows: Windows, levels: np.ndarray) -> dict[str, np.ndarray]:
    """Forecasts [row, step, level] that the series bring along.

    `forecasts` of a series has by name a list, a moment each from the first on, of quantiles in Mbit/s, level by level and
    step after step; None where there was no forecast.
    """
    steps = windows.targets.shape[1]
    given: dict[str, np.ndarray] = {}
    for i, one in enumerate(series):
        rows = np.flatnonzero(windows.series == i)
        for name, lists in one.get("forecasts", {}).items():
            of = given.setdefault(name, np.full((*windows.targets.shape, len(levels)), np.nan))
            if len(lists) != len(rows):
                raise ValueError(f"forecasts.{name} of {one['dataset']}: expected {len(rows)} moments, got {len(lists)}")
            for row, quantiles in zip(rows, lists, strict=True):
                if quantiles is None:
                    continue
                rates = np.maximum(np.reshape(quantiles, (steps, len(levels))), 1e-9)
                of[row] = np.log(rates) - windows.reference[row]
    return given


def estimator_quantiles(series: list[dict], windows: Windows, levels: np.ndarray) -> dict[str, np.ndarray]:
    """Forecasts [row, step, level] of estimators: the estimate, and the quantiles of its errors in the other groups."""
    forecasts = {}
    estimates = [_estimates(one["values"]) for one in series]
    for name in estimates[0]:
        rates = np.concatenate([of[name][windows.seconds[windows.series == i]] for i, of in enumerate(estimates)])
        ratios = np.maximum(np.log(np.maximum(rates, 1e-9)) - windows.reference, windows.floor)
        quantiles = np.full((*windows.targets.shape, len(levels)), np.nan)
        for group in range(len(windows.groups)):
            of = windows.group == group
            for step in range(windows.targets.shape[1]):
                others = np.flatnonzero(~of & ~np.isnan(windows.targets[:, step]))
                if len(others) == 0:
                    continue
                errors = windows.targets[others, step] - ratios[others]
                fitted = weighted_quantiles(errors, balanced_weights(windows.dataset[others]), levels)
                quantiles[of, step] = ratios[of, None] + fitted
        forecasts[name] = quantiles
    return forecasts


def _estimates(values: list[float]) -> dict[str, np.ndarray]:
    """By name: the estimate [second] before each second in Mbit/s; NaN before the first."""
    rates = np.asarray(values, np.float64)
    slownesses = np.concatenate([[0.0], np.cumsum(1 / np.maximum(rates, 1e-9))])
    at = np.arange(len(rates))
    since = np.maximum(0, at - HARMONIC_SECONDS)
    with np.errstate(invalid="ignore"):
        harmonic = (at - since) / (slownesses[at] - slownesses[since])
    last = np.concatenate([[np.nan], rates[:-1]])
    fading = {f"EWMA {constant} s": faded(rates, constant) for constant in FADING_SECONDS}
    return {"last value": last, "harmonic mean": harmonic, **fading}


def weighted_quantiles(values: np.ndarray, weights: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Quantiles [level] of weighted values: linear between the middles of their weights."""
    order = np.argsort(values, kind="stable")
    share = np.cumsum(weights[order])
    return np.interp(levels, (share - weights[order] / 2) / share[-1], values[order])


def distribution_scores(
    windows: Windows, forecasts: Mapping[str, np.ndarray], levels: np.ndarray, step_ends: list[float]
) -> dict:
    """Per data set and pooled: how many moments, and by forecaster and step the mean pinball loss, the CRPS and coverage.

    Moments at which any of the forecasters has no forecast at all count for none. Shares of a handful are None, as is the
    score of a step that nobody could learn.
    """
    edges = np.concatenate([[0], (levels[1:] + levels[:-1]) / 2, [1]])
    floored = {name: np.maximum(of, windows.floor[:, None, None]) for name, of in forecasts.items()}
    judged = ~np.any([np.isnan(of).all((1, 2)) for of in floored.values()], axis=0)
    targets = np.maximum(windows.targets, windows.floor[:, None])
    # Coverage counts once a session is 30 s old, and three times what the step ends at.
    settled = windows.seconds[:, None] >= np.maximum(30, 3 * np.array(step_ends))
    losses = {name: pinball(of, targets, levels) for name, of in floored.items()}
    ranks = {name: np.abs(scores_of(of, targets, levels)) for name, of in floored.items()}
    scores = {}
    for dataset in [*windows.datasets, "pooled"]:
        chosen = judged if dataset == "pooled" else judged & (windows.dataset == windows.datasets.index(dataset))
        if not chosen.any():
            continue
        known = ~np.isnan(targets[chosen])
        counted = known & settled[chosen]
        of: dict = {"forecasts": int(chosen.sum()), "pinball": {}, "crps": {}, "coverage50": {}, "coverage90": {}}
        for name in floored:
            loss = losses[name][chosen]
            mean = np.full((len(step_ends), len(levels)), np.nan)
            for step in np.flatnonzero(known.any(0)):
                mean[step] = loss[known[:, step], step].mean(0)
            of["pinball"][name] = _listed(mean.mean(1))
            # Twice the integral of the loss over the levels, by the midpoint rule.
            of["crps"][name] = _listed(2 * (mean * np.diff(edges)).sum(1))
            rank = ranks[name][chosen]
            for field, limit in (("coverage50", HALF), ("coverage90", NINE_TENTHS)):
                count = counted.sum(0)
                share = ((rank <= limit) & counted).sum(0) / np.maximum(count, 1)
                of[field][name] = _listed(np.where((count >= LEAST_SETTLED) & ~np.isnan(mean[:, 0]), share, np.nan))
        scores[dataset] = of
    return scores


def _listed(values: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), 5) for value in values]


if __name__ == "__main__":
    sys.exit(main())
