"""Sequence models in place of the shipped network: a GRU, a TCN and a larger MLP, by three folds over recording groups.

`sequence.py --rows <folder> --out <folder> --model gru` trains a model per fold on rows of `leo-abr train` with their
bins: half seconds of downloading, of which a session has `bins.f32` [bin, (end in s, ln rate / reference, change of ln
reference, ln(1 + pause in s))]; `counts.i32` [row] is the number of bins before a row, `sessions.f64` [session, (rows,
bins, handover in s)]. Needs torch.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).parent))
from leo_abr_training.fit import balanced_weights, one_cycle  # noqa: E402
from leo_abr_training.rows import Rows, read_rows  # noqa: E402

LEVELS = np.array((0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97), np.float32)
FOLDS = 3
EPOCH_SECONDS = 15
# Inputs per bin: level, drift, pause, sine and cosine of the position in the epoch, whether it is known.
INPUTS = 6
WIDTH = {"gru": 48, "tcn": 32, "mlp": 0}
DILATIONS = (1, 2, 4, 8, 16, 32)
HEAD = 64
LEAK = 0.1
# Shares of the training sessions whose handovers are never known, and known only from some second on.
NEVER, LATER = 0.25, 0.3
LATEST_KNOWN_SECONDS = 120


def fold_of(name: str, index: int) -> int:
    """Groups of a day are in one fold, because cellular links were recorded on the drives of satellite links."""
    day = re.fullmatch(r"(?:sat-vs-cell-2023-|us-cell-drive-)(\d\d)-?(\d\d)", name)
    return (int(day[1]) * 31 + int(day[2]) if day else index) % FOLDS


class Data:
    """Rows, and the sessions that they are of."""

    def __init__(self, folder: Path):
        self.rows: Rows = read_rows(folder)
        self.counts = torch.from_numpy(np.fromfile(folder / "counts.i32", "<i4").astype(np.int64))
        bins = np.fromfile(folder / "bins.f32", "<f4").reshape(-1, 4)
        self.ends, self.inputs = torch.from_numpy(bins[:, 0].copy()), torch.from_numpy(bins[:, 1:].copy())
        sessions = np.fromfile(folder / "sessions.f64", "<f8").reshape(-1, 3)
        self.handover = sessions[:, 2]
        self.row_at = np.concatenate([[0], np.cumsum(sessions[:, 0]).astype(int)])
        self.bin_at = np.concatenate([[0], np.cumsum(sessions[:, 1]).astype(int)])
        assert self.row_at[-1] == len(self.rows.features) and self.bin_at[-1] == len(bins)
        self.sessions = np.flatnonzero(np.diff(self.row_at) > 0)
        self.group = self.rows.group[self.row_at[:-1].clip(max=len(self.rows.group) - 1)]
        self.fold = np.array([fold_of(name, i) for i, name in enumerate(self.rows.groups)])
        self.is_handover = torch.from_numpy(~np.isnan(self.rows.unknown))
        self.unknown = torch.from_numpy(np.nan_to_num(self.rows.unknown))
        self.features = torch.from_numpy(self.rows.features)
        self.targets = torch.from_numpy(self.rows.targets)

    def batch(self, sessions: np.ndarray, known_from: np.ndarray, share: float, rng: np.random.Generator):
        """Bins [session, bin, input], and of a share of their rows: session, bins before it, features, row."""
        longest = max(1, int(max(self.bin_at[s + 1] - self.bin_at[s] for s in sessions)))
        bins = torch.zeros(len(sessions), longest, INPUTS)
        owners, rows, features = [], [], []
        for i, s in enumerate(sessions):
            at = slice(self.bin_at[s], self.bin_at[s + 1])
            count = at.stop - at.start
            bins[i, :count, :3] = self.inputs[at]
            known = self.ends[at] >= known_from[i]
            if np.isfinite(self.handover[s]):
                angle = 2 * np.pi * (self.ends[at] - 0.25 - self.handover[s]) / EPOCH_SECONDS
                bins[i, :count, 3] = torch.where(known, torch.sin(angle), 0)
                bins[i, :count, 4] = torch.where(known, torch.cos(angle), 0)
                bins[i, :count, 5] = known.float()
            own = np.arange(self.row_at[s], self.row_at[s + 1])
            own = own if share == 1 else own[rng.random(len(own)) < share]
            inputs = self.features[own].clone()
            # A row is as late as the last bin before it.
            ends = self.ends[at][(self.counts[own] - 1).clip(min=0)] if count > 0 else torch.zeros(len(own))
            masked = ends < known_from[i]
            inputs[masked] = torch.where(self.is_handover, self.unknown, inputs[masked])
            owners.append(torch.full((len(own),), i))
            rows.append(own)
            features.append(inputs)
        rows = np.concatenate(rows)
        return bins, torch.cat(owners), self.counts[rows], torch.cat(features), rows


class Model(nn.Module):
    """Quantiles [row, step, level] from a session's bins and a row's features."""

    def __init__(self, kind: str, size: torch.Tensor, steps: int):
        super().__init__()
        self.kind, self.width = kind, WIDTH[kind]
        self.register_buffer("size", size)
        if kind == "gru":
            self.gru = nn.GRU(INPUTS, self.width, batch_first=True)
        if kind == "tcn":
            self.first = nn.Linear(INPUTS, self.width)
            self.convolutions = nn.ModuleList(nn.Conv1d(self.width, self.width, 3, dilation=d) for d in DILATIONS)
        sizes = [self.width + len(size), HEAD] + ([HEAD] if kind == "mlp" else []) + [steps * len(LEVELS)]
        self.head = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:]))
        with torch.no_grad():
            gaps = torch.full((steps, len(LEVELS)), -1.5)
            gaps[:, len(LEVELS) // 2] = 0
            self.head[-1].weight *= 0.2
            self.head[-1].bias.copy_(gaps.ravel())

    def states(self, bins: torch.Tensor) -> torch.Tensor:
        """[session, 1 + bin, unit]: after each number of bins."""
        if self.kind == "gru":
            values = self.gru(bins)[0]
        else:
            values = self.first(bins).transpose(1, 2)
            for convolution, dilation in zip(self.convolutions, DILATIONS):
                before = functional.pad(values, (2 * dilation, 0))
                values = values + functional.leaky_relu(convolution(before), LEAK)
            values = values.transpose(1, 2)
        return functional.pad(values, (0, 0, 1, 0))

    def forward(self, bins, owners, counts, features) -> torch.Tensor:
        values = features / self.size
        if self.width > 0:
            values = torch.cat([self.states(bins)[owners, counts], values], 1)
        for layer in self.head[:-1]:
            values = functional.leaky_relu(layer(values), LEAK)
        raw = self.head[-1](values).reshape(len(values), -1, len(LEVELS))
        middle = len(LEVELS) // 2
        gaps, median = functional.softplus(raw), raw[..., middle : middle + 1]
        above = median + gaps[..., middle + 1 :].cumsum(-1)
        below = median - gaps[..., :middle].flip(-1).cumsum(-1).flip(-1)
        return torch.cat([below, median, above], -1)


def batches(data: Data, order: np.ndarray, size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Sessions of about the same length together, so that little is padded."""
    lengths = np.diff(data.bin_at)
    found = []
    for at in range(0, len(order), 16 * size):
        part = order[at : at + 16 * size]
        part = part[np.argsort(lengths[part], kind="stable")]
        found += [part[i : i + size] for i in range(0, len(part) - size + 1, size)]
    return [found[i] for i in rng.permutation(len(found))]


def train(data: Data, kind: str, fold: int, seed: int, args: argparse.Namespace) -> Model:
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    rows = data.rows
    inside = (data.fold[rows.group] != fold) & ~rows.is_left_out
    sessions = np.array([s for s in data.sessions if inside[data.row_at[s]]])
    weights = np.zeros(len(inside), np.float32)
    weights[inside] = balanced_weights(rows.dataset[inside], 0.5)
    size = np.sqrt((rows.features[inside].astype(np.float64) ** 2).mean(0)) + 1e-3
    size[data.is_handover.numpy()] = np.maximum(size[data.is_handover.numpy()], 0.3)
    model = Model(kind, torch.from_numpy(size.astype(np.float32)), rows.targets.shape[1])
    optimiser = torch.optim.AdamW(model.parameters(), args.rate, weight_decay=1e-3)
    levels = torch.from_numpy(LEVELS)
    steps, step, begun = args.epochs * (len(sessions) // args.batch), 0, time.monotonic()
    for epoch in range(args.epochs):
        for chosen in batches(data, rng.permutation(sessions), args.batch, rng):
            draw = rng.random(len(chosen))
            known_from = np.where(draw < NEVER + LATER, rng.random(len(chosen)) * LATEST_KNOWN_SECONDS, -np.inf)
            known_from[draw < NEVER] = np.inf
            *inputs, own = data.batch(chosen, known_from, args.share, rng)
            error = data.targets[own][..., None] - model(*inputs)
            loss = torch.where(error.isnan(), 0, torch.maximum(levels * error, (levels - 1) * error))
            loss = (loss.mean((1, 2)) * torch.from_numpy(weights[own])).mean()
            for group in optimiser.param_groups:
                group["lr"] = args.rate * one_cycle(min(1, step / steps))
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            step += 1
        print(f"{kind} fold {fold} epoch {epoch}: {loss.item():.4f} {time.monotonic() - begun:.0f} s", flush=True)
    return model


@torch.no_grad()
def quantiles_of(data: Data, model: Model, fold: int) -> tuple[np.ndarray, np.ndarray]:
    """Of plain rows of groups left out: their indices, and [row, step, level]."""
    plain = [s for s in data.sessions if data.fold[data.group[s]] == fold and data.rows.is_plain[data.row_at[s]]]
    rng = np.random.default_rng(0)
    found = []
    for at in range(0, len(plain), 32):
        *inputs, rows = data.batch(np.array(plain[at : at + 32]), np.full(32, -np.inf), 1, rng)
        found.append((rows, model(*inputs).numpy()))
    return np.concatenate([rows for rows, _ in found]), np.concatenate([values for _, values in found])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--model", choices=list(WIDTH), required=True)
    parser.add_argument("--folds", type=int, nargs="+", default=list(range(FOLDS)))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=7)
    parser.add_argument("--batch", type=int, default=24, help="sessions")
    parser.add_argument("--share", type=float, default=0.4, help="of a session's rows per epoch")
    parser.add_argument("--rate", type=float, default=5e-3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    data = Data(args.rows)
    args.out.mkdir(parents=True, exist_ok=True)
    for fold in args.folds:
        model = train(data, args.model, fold, args.seed, args)
        name = f"{args.model}-{args.seed}-{fold}"
        rows, quantiles = quantiles_of(data, model, fold)
        np.savez(args.out / f"{name}.npz", rows=rows, quantiles=quantiles)
        file = {"kind": args.model} | {key: value.tolist() for key, value in model.state_dict().items()}
        (args.out / f"{name}.json").write_text(json.dumps(file))


if __name__ == "__main__":
    main()
