"""The quantile network: leaky ReLU layers, a monotone head, pinball loss, and backpropagation by hand.

predictor/forecast/quantile-forecaster.ts evaluates the same network.
"""

from __future__ import annotations

import numpy as np

LEAK = np.float32(0.1)
# Initial biases of the gaps, so that softplus gives about 0.2.
FIRST_GAP = np.float32(-1.5)

Parameters = list[np.ndarray]  # weights [input, output] and biases, alternating


def first_parameters(sizes: list[int], levels: int, rng: np.random.Generator) -> Parameters:
    """He initialisation, with a small last layer whose quantiles are slightly apart."""
    parameters: Parameters = []
    for layer, (inputs, outputs) in enumerate(zip(sizes[:-1], sizes[1:])):
        is_last = layer == len(sizes) - 2
        spread = np.sqrt(1.5 / inputs) * (0.2 if is_last else 1.0)
        parameters.append(rng.normal(0, spread, (inputs, outputs)).astype(np.float32))
        biases = np.zeros(outputs, np.float32)
        if is_last:
            gaps = np.full((outputs // levels, levels), FIRST_GAP)
            gaps[:, levels // 2] = 0
            biases = gaps.ravel().astype(np.float32)
        parameters.append(biases)
    return parameters


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(np.float32(0), x)


def head(outputs: np.ndarray, levels: int) -> np.ndarray:
    """Quantiles [row, step, level] from raw outputs [row, step * level]."""
    raw = outputs.reshape(len(outputs), outputs.shape[1] // levels, levels)
    middle = levels // 2
    gaps = _softplus(raw)
    quantiles = np.empty_like(raw)
    quantiles[..., middle] = raw[..., middle]
    for i in range(middle + 1, levels):
        quantiles[..., i] = quantiles[..., i - 1] + gaps[..., i]
    for i in range(middle - 1, -1, -1):
        quantiles[..., i] = quantiles[..., i + 1] - gaps[..., i]
    return quantiles


def values_of(parameters: Parameters, features: np.ndarray) -> list[np.ndarray]:
    """The features, and the outputs of each layer, the last one's raw."""
    values = [features]
    for layer in range(0, len(parameters), 2):
        sums = values[-1] @ parameters[layer] + parameters[layer + 1]
        values.append(np.where(sums > 0, sums, LEAK * sums) if layer < len(parameters) - 2 else sums)
    return values


def quantiles_of(parameters: Parameters, features: np.ndarray, levels: int) -> np.ndarray:
    """Quantiles [row, step, level] for features [row, feature]."""
    return head(values_of(parameters, features)[-1], levels)


def pinball(quantiles: np.ndarray, targets: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Pinball loss [row, step, level] (Koenker and Bassett 1978); NaN where the target is."""
    error = targets[..., None] - quantiles
    return np.maximum(levels * error, (levels - 1) * error)


def _head_loss(
    outputs: np.ndarray, targets: np.ndarray, weights: np.ndarray, levels: np.ndarray
) -> tuple[float, np.ndarray]:
    """Mean pinball loss of raw outputs [row, step * level], weighted by row, and its slope [row, step * level]."""
    count = len(levels)
    middle = count // 2
    quantiles = head(outputs, count)
    error = targets[..., None] - quantiles
    known = ~np.isnan(error)
    share = (weights[:, None, None] / np.float32(quantiles.size)).astype(np.float32)
    loss = np.where(known, np.maximum(levels * error, (levels - 1) * error), 0) * share
    upstream = np.where(known, np.where(error > 0, -levels, 1 - levels), 0).astype(np.float32) * share

    raw = outputs.reshape(quantiles.shape)
    slope = 1 / (1 + np.exp(-np.clip(raw, -30, 30)))
    into = np.empty_like(upstream)
    into[..., middle] = upstream.sum(-1)
    above = np.cumsum(upstream[..., :middle:-1], -1)[..., ::-1]
    into[..., middle + 1 :] = above * slope[..., middle + 1 :]
    below = np.cumsum(upstream[..., :middle], -1)
    into[..., :middle] = -below * slope[..., :middle]
    return float(loss.sum()), into.reshape(len(outputs), -1)


def loss_gradient(
    parameters: Parameters,
    features: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    levels: np.ndarray,
) -> tuple[float, Parameters]:
    """Mean pinball loss of a batch, weighted by row, and its gradient. Ignores unknown targets (NaN)."""
    *activations, outputs = values_of(parameters, features)
    loss, delta = _head_loss(outputs, targets, weights, levels)
    gradient: Parameters = [np.empty(0)] * len(parameters)
    for layer in range(len(parameters) - 2, -1, -2):
        inputs = activations[layer // 2]
        gradient[layer] = inputs.T @ delta
        gradient[layer + 1] = delta.sum(0)
        if layer > 0:
            delta = (delta @ parameters[layer].T) * np.where(inputs > 0, np.float32(1), LEAK)
    return loss, gradient
