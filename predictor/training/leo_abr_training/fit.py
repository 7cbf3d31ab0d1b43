"""Fits networks to rows: AdamW with a one-cycle learning rate, and balanced data sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .network import Parameters, first_parameters, loss_gradient, quantiles_of
from .rows import Rows

# Largest weight of a model file, in steps of its input's scale.
GREATEST_STEP = 31
# Scales of rows are powers of this, with an exponent from 0 to 63.
SCALE_BASE = 2**-0.25


@dataclass(frozen=True)
class Settings:
    levels: tuple[float, ...] = (0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97)
    hidden: tuple[int, ...] = (12, 12)
    # Final share of the steps, in which weights are rounded as in the model file.
    rounded: float = 0.5
    epochs: int = 12
    batch: int = 512
    # Also for few rows.
    least_steps: int = 400
    learning_rate: float = 4e-3
    weight_decay: float = 1e-3
    # The weight of a data set is its size to the power of 1 - balance.
    balance: float = 0.5


@dataclass(frozen=True)
class Fitted:
    """A network whose first layer includes the scaling of the features."""

    parameters: Parameters
    levels: np.ndarray

    def quantiles(self, features: np.ndarray) -> np.ndarray:
        """[row, step, level]"""
        return quantiles_of(self.parameters, features, len(self.levels))


def fit(rows: Rows, chosen: np.ndarray, settings: Settings, seed: int) -> Fitted:
    """Fits to the chosen rows (indices, at least one). Deterministic for the same rows, settings and seed."""
    inputs = rows.features[chosen]
    size = np.sqrt((inputs.astype(np.float64) ** 2).mean(0)) + 1e-3
    # A power of the base, so that the weights have the same steps with and without the scaling.
    size = (SCALE_BASE ** np.rint(np.log(size) / np.log(SCALE_BASE))).astype(np.float32)
    scaled = inputs / size
    targets = rows.targets[chosen]
    weights = balanced_weights(rows.dataset[chosen], settings.balance).astype(np.float32)
    levels = np.array(settings.levels, np.float32)
    sizes = [inputs.shape[1], *settings.hidden, targets.shape[1] * len(levels)]

    rng = np.random.default_rng(seed)
    parameters = first_parameters(sizes, len(levels), rng)
    optimiser = AdamW(parameters, settings)
    batch_size = min(settings.batch, len(chosen))
    batches = len(chosen) // batch_size
    steps = max(settings.least_steps, batches * settings.epochs)
    for step in range(steps):
        if step % batches == 0:
            order = rng.permutation(len(chosen))
        at = order[(step % batches) * batch_size :][:batch_size]
        batch = scaled[at]
        # The gradient at the rounded parameters updates the unrounded ones (straight-through, Bengio et al. 2013).
        forward = parameters if step < (1 - settings.rounded) * steps else rounded(parameters)
        _, gradient = loss_gradient(forward, batch, targets[at], weights[at], levels)
        optimiser.step(gradient, one_cycle(step / steps))
    return Fitted([parameters[0] / size[:, None], *parameters[1:]], levels)


def balanced_weights(datasets: np.ndarray, balance: float) -> np.ndarray:
    """Weights [row] of mean 1 that balance data sets of different sizes. `datasets`: [row] index."""
    counts = np.bincount(datasets)
    weights = (1.0 / counts[datasets]) ** balance
    return weights / weights.mean()


def quantised(weights: np.ndarray, biases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Exponents of the scales [input + 2] and steps [input + 2, output] of a layer.

    The last two inputs are 1: their weights add up to the biases, which need more steps than weights.
    """
    coarse = _steps_of(biases[None])
    rest = biases - (coarse[1] * SCALE_BASE ** coarse[0][:, None])[0]
    parts = [_steps_of(weights), coarse, _steps_of(rest[None])]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _steps_of(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Exponents [row] and steps [row, column]."""
    least = np.maximum(np.abs(rows).max(1) / GREATEST_STEP, 1e-9)
    exponents = np.clip(np.floor(np.log(least) / np.log(SCALE_BASE)), 0, 63).astype(int)
    steps = np.clip(np.rint(rows / SCALE_BASE ** exponents[:, None]), -GREATEST_STEP, GREATEST_STEP)
    return exponents, steps.astype(int)


def rounded(parameters: Parameters) -> Parameters:
    """The parameters that a reader decodes from a model file."""
    read: Parameters = []
    for layer in range(0, len(parameters), 2):
        exponents, steps = quantised(*parameters[layer : layer + 2])
        rows = (steps * SCALE_BASE ** exponents[:, None]).astype(np.float32)
        read += [rows[:-2], rows[-2] + rows[-1]]
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
