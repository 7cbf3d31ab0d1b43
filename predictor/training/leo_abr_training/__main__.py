"""`python -m leo_abr_training <command>`: what `leo-abr train` runs. Says on standard output what it does."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

# Sums of one order whatever the machine: the same rows give the same model. Set before numpy loads.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

from .fit import Settings, fit  # noqa: E402
from .model_file import as_read, model_file  # noqa: E402
from .network import pinball  # noqa: E402
from .rows import Rows, read_rows  # noqa: E402
from .scores import rank_correlation, scores_of  # noqa: E402

ROWS: Rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="leo_abr_training")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("model", "one model of all rows"),
        ("folds", "one model per recording group, each without the rows of its group"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--rows", type=Path, required=True, help="folder of rows.json and rows.f32")
        command.add_argument("--out", type=Path, required=True, help="model file, or folder of the folds")
        command.add_argument("--name", required=True, help="name in the model file")
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
        if name == "model":
            command.add_argument("--rank-correlation", type=float, help="default: measured on the rows themselves")
    args = parser.parse_args()
    _load(args.rows)
    print(f"{len(ROWS.features)} rows of {len(ROWS.groups)} recording groups", flush=True)
    return train_model(args) if args.command == "model" else train_folds(args)


def train_model(args: argparse.Namespace) -> int:
    begun = time.monotonic()
    shown = [begun]

    def progress(done: float) -> None:
        now = time.monotonic()
        if now - shown[0] > 5:
            shown[0] = now
            print(f"fitting: {100 * done:.0f} %", flush=True)

    fitted = fit(ROWS, np.arange(len(ROWS.features)), Settings(), args.seed, progress)
    correlation = args.rank_correlation
    if correlation is None:
        plain = np.flatnonzero(ROWS.is_plain)
        quantiles = fitted.quantiles(ROWS.features[plain])
        correlation = _mean_rank_correlation(scores_of(quantiles, ROWS.targets[plain], fitted.levels), plain)
    _write_json(args.out, model_file(fitted, ROWS, args.name, correlation))
    print(f"wrote {args.out} after {time.monotonic() - begun:.0f} s", flush=True)
    return 0


def train_folds(args: argparse.Namespace) -> int:
    begun = time.monotonic()
    held_out = {}
    with ProcessPoolExecutor(max_workers=args.jobs, initializer=_load, initargs=(args.rows,)) as pool:
        for done, (group, fold) in enumerate(pool.map(_fold, [(g, args.seed) for g in range(len(ROWS.groups))])):
            held_out[group] = fold
            print(f"fold {done + 1} of {len(ROWS.groups)}: {ROWS.groups[group]}", flush=True)
    # Every fold gets the correlation of the others: what is measured on a group is not used on it.
    scores = {group: fold["scores"] for group, fold in held_out.items()}
    files = {}
    for group, fold in held_out.items():
        others = [g for g in scores if g != group]
        correlation = _mean_rank_correlation(
            np.concatenate([scores[g] for g in others]), np.concatenate([held_out[g]["rows"] for g in others])
        )
        name = ROWS.groups[group]
        file = f"{''.join(c if c.isalnum() or c in '-_.' else '_' for c in name)}.json"
        _write_json(args.out / file, model_file(fold["fitted"], ROWS, f"{args.name} without {name}", correlation))
        files[name] = file
    _write_json(args.out / "folds.json", files)
    _write_json(args.out / "scores.json", _scores(held_out))
    print(f"wrote {args.out / 'folds.json'} after {time.monotonic() - begun:.0f} s", flush=True)
    return 0


def _load(folder: Path) -> None:
    """Every process reads the rows itself."""
    global ROWS
    ROWS = read_rows(folder)


def _fold(task: tuple[int, int]) -> tuple[int, dict]:
    group, seed = task
    fitted = fit(ROWS, np.flatnonzero(ROWS.group != group), Settings(), seed)
    rows = np.flatnonzero((ROWS.group == group) & ROWS.is_plain)
    quantiles = as_read(fitted).quantiles(ROWS.features[rows])
    targets = ROWS.targets[rows]
    return group, {
        "fitted": fitted,
        "rows": rows,
        "scores": scores_of(quantiles, targets, fitted.levels),
        "pinball": pinball(quantiles, targets, fitted.levels).mean(-1),
        "unquantised": pinball(fitted.quantiles(ROWS.features[rows]), targets, fitted.levels).mean(-1),
    }


def _mean_rank_correlation(scores: np.ndarray, rows: np.ndarray) -> float:
    """Mean over data sets, so that the largest does not decide alone."""
    datasets = ROWS.dataset[rows]
    return float(np.mean([rank_correlation(scores[datasets == d]) for d in np.unique(datasets)]))


def _scores(held_out: dict[int, dict]) -> dict:
    """Pinball loss per data set and step over rows that no model had learnt from, and rank correlations."""
    rows = np.concatenate([fold["rows"] for fold in held_out.values()])
    table = {key: np.concatenate([fold[key] for fold in held_out.values()]) for key in ("pinball", "unquantised", "scores")}
    datasets = {}
    for d in np.unique(ROWS.dataset[rows]):
        of = ROWS.dataset[rows] == d
        datasets[ROWS.datasets[d]] = {
            "rows": int(of.sum()),
            "pinball": [round(float(v), 5) for v in np.nanmean(table["pinball"][of], 0)],
            "pinballUnquantised": [round(float(v), 5) for v in np.nanmean(table["unquantised"][of], 0)],
            "rankCorrelation": round(rank_correlation(table["scores"][of]), 3),
        }
    return {
        "stepEndsSeconds": ROWS.step_ends.tolist(),
        "rankCorrelation": round(_mean_rank_correlation(table["scores"], rows), 3),
        "datasets": datasets,
    }


def _write_json(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(value, indent=2) + "\n"
    partial = file.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)


if __name__ == "__main__":
    sys.exit(main())
