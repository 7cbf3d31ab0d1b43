"""`sequence_setup.py <rows> <models> gru+tcn ...`: fits the shipped network on the folds of sequence.py, prints losses on
groups left out, and writes what the simulator's `mpc-l@gru+tcn` and `--fold-models` need. `gru+tcn` is the mean of both.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from leo_abr_training.fit import Settings, fit
from leo_abr_training.folds import rank_correlation, scores_of
from leo_abr_training.model_file import as_read, model_file
from leo_abr_training.network import pinball
from sequence import FOLDS, LEVELS, Data


def fit_shipped(data: Data, fold: int, seed: int) -> tuple[dict, np.ndarray, np.ndarray]:
    rows = data.rows
    fitted = fit(rows, np.flatnonzero(~rows.is_left_out & (data.fold[rows.group] != fold)), Settings(), seed)
    held = np.flatnonzero(rows.is_plain & (data.fold[rows.group] == fold))
    return model_file(fitted, rows, f"fold {fold}", 0.674), held, as_read(fitted).quantiles(rows.features[held])


def set_up(data: Data, names: list[str], seed: int, out: Path) -> None:
    rows = data.rows
    losses, correlations = {}, {}
    for name in ["shipped", *names]:
        losses[name] = np.full(rows.targets.shape, np.nan)
        correlations[name] = []
        for fold in range(FOLDS):
            members = [np.load(out / f"{member}-{seed}-{fold}.npz") for member in name.split("+")]
            orders = [np.argsort(member["rows"]) for member in members]
            at = members[0]["rows"][orders[0]]
            values = np.mean([member["quantiles"][order] for member, order in zip(members, orders)], 0)
            losses[name][at] = pinball(values, rows.targets[at], LEVELS).mean(-1)
            scores, sets = scores_of(values, rows.targets[at], LEVELS), rows.dataset[at]
            correlations[name].append(np.mean([rank_correlation(scores[sets == d]) for d in np.unique(sets)]))
        for dataset, label in enumerate(rows.datasets):
            own, shipped = (np.nansum(losses[one][rows.dataset == dataset]) for one in (name, "shipped"))
            print(f"{name} on {label}: {own / shipped:.4f} of the shipped network's loss")
    # Without the fold's own.
    others = {name: [np.mean(np.delete(of, fold)) for fold in range(FOLDS)] for name, of in correlations.items()}
    folds = {name: int(fold) for name, fold in zip(rows.groups, data.fold)}
    members = {name: [f"{member}-{seed}" for member in name.split("+")] for name in names}
    setup = {"foldOf": folds, "members": members, "rankCorrelation": others}
    (out / "setup.json").write_text(json.dumps(setup))
    (out / "folds.json").write_text(json.dumps({name: f"shipped-{seed}-{fold}.json" for name, fold in folds.items()}))


if __name__ == "__main__":
    data, out = Data(Path(sys.argv[1])), Path(sys.argv[2])
    for fold in range(FOLDS):
        file, rows, quantiles = fit_shipped(data, fold, 1)
        np.savez(out / f"shipped-1-{fold}.npz", rows=rows, quantiles=quantiles)
        (out / f"shipped-1-{fold}.json").write_text(json.dumps(file))
    set_up(data, sys.argv[3:], 1, out)
