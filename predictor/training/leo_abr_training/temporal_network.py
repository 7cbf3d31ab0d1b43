"""A temporal convolution network for quantiles (Bai et al. 2018): causal convolutions over the seconds seen, each with the
reach of the one before times its width, then a dense layer that also takes what else is known of the moment.

Only the last second's output is wanted, and with a dilation equal to the width before it, what that depends on are
neighbours side by side: each convolution is one matrix product over reshaped inputs. Head and loss are the built-in network's,
so that quantiles never cross. Numpy alone, forward and backward by hand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .fit import AdamW, one_cycle
from .moments import LAGS, RATIO, Layout, Moments
from .network import LEAK, Parameters, first_parameters, head, head_loss

# Seconds, or outputs of the layer before, that a convolution takes together; their product is what is looked back on.
WIDTHS = (4, 4, 4)
assert np.prod(WIDTHS) == LAGS
# Outcomes are that far off at most while learning: an outage after a good minute must not outweigh the rest.
GREATEST_TARGET = 6.0


@dataclass(frozen=True)
class TemporalSettings:
    """`learning_rate` and `weight_decay` are AdamW's."""

    channels: tuple[int, ...] = (12, 24, 32)
    dense: int = 32
    # Networks that are averaged; each begins elsewhere.
    members: int = 2
    steps: int = 700
    batch: int = 512
    learning_rate: float = 6e-3
    weight_decay: float = 1e-2
    # Share of moments that are shown without the clock, and of those with swings stretched.
    masked: float = 0.25
    stretched: float = 0.5
    # ln of how much more, or less, restless a stretched moment may be.
    greatest_stretch: float = 0.7


@dataclass(frozen=True)
class TemporalNetwork:
    members: list[Parameters]
    levels: np.ndarray

    def quantiles(self, moments: Moments, chosen: np.ndarray) -> np.ndarray:
        """[row, step, level]: ln of ratios to the session's level."""
        parts = []
        # In parts that fit a cache.
        for at in np.array_split(chosen, max(1, len(chosen) // 2048)):
            inputs = moments.inputs(at)
            outputs = [forward(member, *inputs)[-1] for member in self.members]
            parts.append(np.mean([head(output, len(self.levels)) for output in outputs], 0))
        return np.concatenate(parts)


def first_temporal_parameters(
    settings: TemporalSettings, layout: Layout, outputs: int, levels: int, rng: np.random.Generator
) -> Parameters:
    """Weights [input, output] and biases by turns: the convolutions, the dense layer, the head."""
    parameters: Parameters = []
    inputs = layout.channels
    for width, channels in zip(WIDTHS, settings.channels, strict=True):
        parameters.append(rng.normal(0, np.sqrt(1.5 / (width * inputs)), (width * inputs, channels)).astype(np.float32))
        parameters.append(np.zeros(channels, np.float32))
        inputs = channels
    return parameters + first_parameters([inputs + layout.features, settings.dense, outputs], levels, rng)


def forward(parameters: Parameters, history: np.ndarray, moment: np.ndarray) -> list[np.ndarray]:
    """What each layer takes, as [row, input] or [row * position, input], and last what comes out: [row, output]."""
    rows = len(history)
    taken = []
    values = history
    for layer, width in enumerate(WIDTHS):
        weights, biases = parameters[2 * layer : 2 * layer + 2]
        taken.append(values.reshape(-1, width * values.shape[-1]))
        sums = taken[-1] @ weights + biases
        values = np.where(sums > 0, sums, LEAK * sums)
    taken.append(np.concatenate([values.reshape(rows, -1), moment], 1))
    weights, biases, last_weights, last_biases = parameters[2 * len(WIDTHS) :]
    sums = taken[-1] @ weights + biases
    taken.append(np.where(sums > 0, sums, LEAK * sums))
    return [*taken, taken[-1] @ last_weights + last_biases]


def temporal_loss_gradient(
    parameters: Parameters,
    inputs: tuple[np.ndarray, np.ndarray],
    targets: np.ndarray,
    weights: np.ndarray,
    levels: np.ndarray,
) -> tuple[float, Parameters]:
    """Mean pinball loss of a batch (history, moment), weighted by row, and its gradient."""
    *taken, outputs = forward(parameters, *inputs)
    loss, delta = head_loss(outputs, targets, weights, levels)
    gradient: Parameters = [np.empty(0)] * len(parameters)
    for layer in range(len(taken) - 1, -1, -1):
        gradient[2 * layer] = taken[layer].T @ delta
        gradient[2 * layer + 1] = delta.sum(0)
        if layer == 0:
            break
        delta = delta @ parameters[2 * layer].T
        if layer == len(WIDTHS):
            # The moment's features are inputs: nothing is behind them.
            delta = delta[:, : parameters[2 * layer - 1].size]
            values = taken[layer][:, : delta.shape[1]]
        else:
            values = taken[layer]
        delta = delta * np.where(values > 0, np.float32(1), LEAK)
        if layer <= len(WIDTHS):
            # One row for each position of the layer before.
            delta = delta.reshape(-1, parameters[2 * layer - 1].size)
    return loss, gradient


def fit_temporal(
    moments: Moments, chosen: np.ndarray, row_weights: np.ndarray, levels: np.ndarray, settings: TemporalSettings, seed: int
) -> TemporalNetwork:
    """Fits to the chosen rows (indices, at least one; a weight for each). The same arguments give the same networks."""
    outputs = moments.targets.shape[1] * len(levels)
    layout = moments.layout
    levels = levels.astype(np.float32)
    members = []
    for member in range(settings.members):
        rng = np.random.default_rng([seed, member])
        parameters = first_temporal_parameters(settings, layout, outputs, len(levels), rng)
        optimiser = AdamW(parameters, settings)
        for step in range(settings.steps):
            at = rng.integers(0, len(chosen), settings.batch)
            rows = chosen[at]
            history, features = moments.inputs(rows)
            masked = rng.random(len(rows)) < settings.masked
            history[np.ix_(masked, np.arange(LAGS), layout.clock_channels)] = 0
            features[np.ix_(masked, layout.clock_features)] = 0
            stretch = np.exp(settings.greatest_stretch * (2 * rng.random(len(rows)) - 1))
            stretch = np.where(rng.random(len(rows)) < settings.stretched, stretch, 1).astype(np.float32)[:, None]
            history[..., RATIO] *= stretch
            features[:, layout.rates] *= stretch
            targets = np.clip(moments.targets[rows] * stretch, -GREATEST_TARGET, GREATEST_TARGET)
            inputs = (history, features)
            _, gradient = temporal_loss_gradient(parameters, inputs, targets, row_weights[at].astype(np.float32), levels)
            optimiser.step(gradient, one_cycle(step / settings.steps))
        members.append(parameters)
    return TemporalNetwork(members, levels)
