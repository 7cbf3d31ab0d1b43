"""Fits networks to rows: AdamW with a one-cycle learning rate, balanced data sets, masked handovers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .network import Parameters, first_parameters, loss_gradient, quantiles_of
from .rows import Rows

# Largest quantised weight of a model file, in steps.
GREATEST_STEP = 31


@dataclass(frozen=True)
class Settings:
    levels: tuple[float, ...] = (0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97)
    hidden: tuple[int, ...] = (24, 16)
    # Final share of the steps, in which weights are rounded as in the model file.
    rounded: float = 0.5
    # Size of the ensemble, whose networks start from different parameters.
    members: int = 2
    epochs: int = 2
    batch: int = 512
    # Also for few rows.
    least_steps: int = 400
    learning_rate: float = 4e-3
    weight_decay: float = 1e-3
    # Share of rows whose handover features are masked as unknown.
    masked: float = 0.25
    # The weight of a data set is its size to the power of 1 - balance.
    balance: float = 0.5


@dataclass(frozen=True)
class Fitted:
    """Networks whose first layer includes the scaling of the features."""

    members: list[Parameters]
    levels: np.ndarray

    def quantiles(self, features: np.ndarray) -> np.ndarray:
        """[row, step, level]"""
        sum_ = quantiles_of(self.members[0], features, len(self.levels))
        for member in self.members[1:]:
            sum_ += quantiles_of(member, features, len(self.levels))
        return sum_ / len(self.members)


def fit(rows: Rows, chosen: np.ndarray, settings: Settings, seed: int) -> Fitted:
    """Fits to the chosen rows (indices, at least one). Deterministic for the same rows, settings and seed."""
    inputs = rows.features[chosen]
    is_handover = ~np.isnan(rows.unknown)
    mean = inputs.mean(0, dtype=np.float64).astype(np.float32)
    spread = inputs.std(0, dtype=np.float64).astype(np.float32) + np.float32(1e-3)
    # Handover features are nearly always known and then vary little; without this, masked values would be outliers.
    mean[is_handover] = 0
    spread[is_handover] = np.maximum(spread[is_handover], 0.3)
    scaled = (inputs - mean) / spread
    unknown = ((rows.unknown - mean) / spread).astype(np.float32)
    targets = rows.targets[chosen]
    weights = balanced_weights(rows.dataset[chosen], settings.balance).astype(np.float32)
    levels = np.array(settings.levels, np.float32)
    sizes = [inputs.shape[1], *settings.hidden, targets.shape[1] * len(levels)]

    members = []
    for member in range(settings.members):
        rng = np.random.default_rng([seed, member])
        parameters = first_parameters(sizes, len(levels), rng)
        optimiser = AdamW(parameters, settings)
        size = min(settings.batch, len(chosen))
        batches = len(chosen) // size
        steps = max(settings.least_steps, batches * settings.epochs)
        for step in range(steps):
            if step % batches == 0:
                order = rng.permutation(len(chosen))
            at = order[(step % batches) * size :][:size]
            batch = scaled[at]
            masked = rng.random(len(at)) < settings.masked
            batch[np.ix_(masked, is_handover)] = unknown[is_handover]
            # The gradient at the rounded weights updates the unrounded ones (straight-through, Bengio et al. 2013).
            forward = parameters if step < (1 - settings.rounded) * steps else rounded(parameters)
            _, gradient = loss_gradient(forward, batch, targets[at], weights[at], levels)
            optimiser.step(gradient, one_cycle(step / steps))
        members.append(_with_scaling_inside(parameters, mean, spread))
    return Fitted(members, levels)


def balanced_weights(datasets: np.ndarray, balance: float) -> np.ndarray:
    """Weights [row] of mean 1 that balance data sets of different sizes. `datasets`: [row] index."""
    counts = np.bincount(datasets)
    weights = (1.0 / counts[datasets]) ** balance
    return weights / weights.mean()


def rounded(parameters: Parameters) -> Parameters:
    """The parameters with weights as in a model file: -31 to 31 times a scale per input."""
    read = list(parameters)
    for layer in range(0, len(parameters), 2):
        weights = parameters[layer]
        scales = np.maximum(np.abs(weights).max(1, keepdims=True), np.float32(1e-12)) / np.float32(GREATEST_STEP)
        read[layer] = np.rint(weights / scales) * scales
    return read


def one_cycle(done: float) -> float:
    """Factor of the learning rate: rises for 30 % of the steps, then falls, both as cosines (Smith 2018)."""
    low, end = 1 / 25, 1e-4
    if done < 0.3:
        return low + (1 - low) * (1 - np.cos(np.pi * done / 0.3)) / 2
    return end + (1 - end) * (1 + np.cos(np.pi * (done - 0.3) / 0.7)) / 2


class AdamW:
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019); updates the parameters in place."""

    def __init__(self, parameters: Parameters, settings: Settings):
        self.parameters = parameters
        self.rate = settings.learning_rate
        self.decay = settings.weight_decay
        self.first = [np.zeros_like(value) for value in parameters]
        self.second = [np.zeros_like(value) for value in parameters]
        self.steps = 0

    def step(self, gradient: Parameters, share: float) -> None:
        self.steps += 1
        rate = self.rate * share
        for value, slope, first, second in zip(self.parameters, gradient, self.first, self.second):
            first += (1 - 0.9) * (slope - first)
            second += (1 - 0.999) * (slope * slope - second)
            corrected = first / (1 - 0.9**self.steps)
            size = np.sqrt(second / (1 - 0.999**self.steps)) + 1e-8
            value -= (rate * (corrected / size + self.decay * value)).astype(np.float32)


def _with_scaling_inside(parameters: Parameters, mean: np.ndarray, spread: np.ndarray) -> Parameters:
    weights = parameters[0] / spread[:, None]
    return [weights, parameters[1] - mean @ weights, *parameters[2:]]
