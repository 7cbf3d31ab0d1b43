"""`python -m leo_abr_training`: the training that `leo-abr train` runs. Prints its progress."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

# One thread, so that sums have one order and the same rows give the same model. Set before numpy loads.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

from .fit import Fitted, Settings, fit  # noqa: E402
from .folds import HeldOut, held_out_of, mean_rank_correlation, scores_by_dataset, training_sets  # noqa: E402
from .model_file import as_read, model_file  # noqa: E402
from .rows import Rows, read_rows  # noqa: E402

ROWS: Rows
SETTINGS = Settings()
# Rows that the model file contains with their outputs, to verify other implementations.
GOLDEN_ROWS = 6


def main() -> int:
    parser = argparse.ArgumentParser(prog="leo_abr_training", description="Fits the built-in forecaster's network.")
    parser.add_argument("--rows", type=Path, required=True, help="folder of rows.json and rows.f32")
    parser.add_argument("--name", required=True, help="name in the model files")
    parser.add_argument("--model", type=Path, help="file for one model of all rows")
    parser.add_argument("--folds", type=Path, help="folder for one model per recording group, without the group's rows")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes; the models do not depend on it")
    args = parser.parse_args()
    begun = time.monotonic()
    _load(args.rows)
    print(f"{len(ROWS.features)} rows of {len(ROWS.groups)} recording groups", flush=True)

    sets = training_sets(ROWS) if args.folds else {}
    if args.model:
        # The folds, if any, provide the held-out results for its rank correlation.
        sets.setdefault(None, [])
    tasks = [(group, args.seed) for group in sets]
    fitted: dict[int | None, Fitted] = {}
    held_out: dict[int, HeldOut] = {}
    workers = max(1, min(args.jobs, len(tasks)))
    with ProcessPoolExecutor(workers, initializer=_load, initargs=(args.rows,)) as pool:
        for (left_out, groups), result in zip(sets.items(), pool.map(_fit, tasks)):
            fitted[left_out] = result
            for group in groups:
                held_out[group] = _held_out(result, group)
            name = "all" if left_out is None else f"all but {ROWS.groups[left_out]}"
            print(f"fitted {len(fitted)} of {len(sets)} ({name}) after {time.monotonic() - begun:.0f} s", flush=True)

    if args.folds:
        _write_folds(args, sets, fitted, held_out)
    if args.model:
        _write_model(args, fitted[None], held_out)
    return 0


def _load(folder: Path) -> None:
    """Initialises a process."""
    global ROWS
    ROWS = read_rows(folder)


def _fit(task: tuple[int | None, int]) -> Fitted:
    left_out, seed = task
    return fit(ROWS, ROWS.training(left_out), SETTINGS, seed)


def _held_out(fitted: Fitted, group: int) -> HeldOut:
    return held_out_of(ROWS, as_read(fitted).quantiles, fitted.levels, group)


def _write_folds(args: argparse.Namespace, sets: dict, fitted: dict, held_out: dict[int, HeldOut]) -> None:
    files = {}
    for left_out, groups in sets.items():
        for group in groups:
            # Without the results on the group itself.
            others = [held_out[g] for g in held_out if g != group]
            name = ROWS.groups[group]
            file = f"{''.join(c if c.isalnum() or c in '-_.' else '_' for c in name)}.json"
            model = model_file(
                fitted[left_out], ROWS, f"{args.name} without {name}", mean_rank_correlation(ROWS, others)
            )
            _write_json(args.folds / file, {**model, "heldOut": name})
            files[name] = file
    _write_json(args.folds / "scores.json", scores_by_dataset(ROWS, held_out.values()))
    # Written last: if it exists, the folds are complete.
    _write_json(args.folds / "folds.json", dict(sorted(files.items())))
    print(f"wrote {args.folds / 'folds.json'}", flush=True)


def _write_model(args: argparse.Namespace, fitted: Fitted, held_out: dict[int, HeldOut]) -> None:
    """Writes the model, with the field `fit` for its card."""
    evaluated = list(held_out.values()) or [_held_out(fitted, group) for group in np.unique(ROWS.group)]
    chosen = ROWS.training(None)
    golden = chosen[np.linspace(0, len(chosen) - 1, GOLDEN_ROWS).astype(int)]
    quantiles = as_read(fitted).quantiles(ROWS.features[golden])
    file = model_file(fitted, ROWS, args.name, mean_rank_correlation(ROWS, evaluated))
    file["fit"] = {
        "settings": asdict(SETTINGS),
        "seed": args.seed,
        "rows": len(chosen),
        "numpy": np.__version__,
        "scoresAreHeldOut": bool(held_out),
        "scores": scores_by_dataset(ROWS, evaluated),
        "golden": [
            {"features": [round(float(v), 6) for v in features], "logRatios": [round(float(v), 5) for v in row.ravel()]}
            for features, row in zip(ROWS.features[golden], quantiles)
        ],
    }
    _write_json(args.model, file)
    print(f"wrote {args.model}", flush=True)


def _write_json(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(value, indent=2) + "\n"
    partial = file.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)


if __name__ == "__main__":
    sys.exit(main())
