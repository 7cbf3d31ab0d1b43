"""LSTM of T3P's Table 1, without geometry: the last five seconds, and the second of the epoch.

`python predictor/training/table1/t3p_lstm.py <folder of traces>...` needs jax 0.10.2 and numpy.
"""

from __future__ import annotations

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.example_libraries import optimizers  # noqa: E402
from series import EPOCH_SECONDS, LAGS, Series, run, windows_of  # noqa: E402

UNITS = 32
STEPS = 1500
BATCH = 256


def lstm(parameters: dict, inputs: jnp.ndarray) -> jnp.ndarray:
    """One value per row of inputs [row, lag, feature]."""

    def cell(state, x):
        hidden, memory = state
        gates = x @ parameters["in"] + hidden @ parameters["across"] + parameters["bias"]
        update, forget, output, candidate = jnp.split(gates, 4, axis=1)
        memory = jax.nn.sigmoid(forget + 1) * memory + jax.nn.sigmoid(update) * jnp.tanh(candidate)
        return (jax.nn.sigmoid(output) * jnp.tanh(memory), memory), None

    zeros = jnp.zeros((inputs.shape[0], UNITS))
    (hidden, _), _ = jax.lax.scan(cell, (zeros, zeros), jnp.swapaxes(inputs, 0, 1))
    return hidden @ parameters["out"] + parameters["offset"]


def loss(parameters: dict, inputs: jnp.ndarray, targets: jnp.ndarray) -> jnp.ndarray:
    return jnp.mean((lstm(parameters, inputs) - targets) ** 2)


def fit(train: list[Series], seed: int):
    lags, seconds, targets = windows_of(train)
    mean, spread = lags.mean(), lags.std() + 1e-6

    def inputs_of(lags: np.ndarray, seconds: np.ndarray) -> np.ndarray:
        """[row, lag, (value, sine and cosine of the second of the epoch)]; the latter are 0 if it is unknown."""
        at = (seconds[:, None] - np.arange(LAGS, 0, -1)) * 2 * np.pi / EPOCH_SECONDS
        clock = np.nan_to_num(np.stack([np.sin(at), np.cos(at)], -1))
        return np.concatenate([((lags - mean) / spread)[..., None], clock], -1).astype(np.float32)

    inputs = inputs_of(lags, seconds)
    # The difference from the last value, so that the network need not learn to copy it.
    wanted = ((targets - lags[:, -1]) / spread).astype(np.float32)
    rng = np.random.default_rng(seed)
    normal = lambda *shape: jnp.asarray(rng.normal(0, shape[0] ** -0.5, shape), jnp.float32)  # noqa: E731
    parameters = {
        "in": normal(3, 4 * UNITS),
        "across": normal(UNITS, 4 * UNITS),
        "bias": jnp.zeros(4 * UNITS),
        "out": normal(UNITS) * 0.1,
        "offset": jnp.zeros(()),
    }
    begin, update, parameters_of = optimizers.adam(lambda step: 3e-3 * 0.5 * (1 + jnp.cos(jnp.pi * step / STEPS)))
    gradient = jax.grad(loss)
    advance = jax.jit(lambda step, state, *batch: update(step, gradient(parameters_of(state), *batch), state))
    state = begin(parameters)
    for step in range(STEPS):
        at = rng.integers(0, len(inputs), BATCH)
        state = advance(step, state, inputs[at], wanted[at])
    parameters = parameters_of(state)

    def predict(one: Series) -> np.ndarray:
        lags, seconds, _ = one.windows()
        return np.maximum(lags[:, -1] + spread * np.asarray(lstm(parameters, inputs_of(lags, seconds))), 0)

    return predict


if __name__ == "__main__":
    run("LSTM", fit)
