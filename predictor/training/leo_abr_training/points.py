"""`python -m leo_abr_training.points`: T3P's predictors one second ahead, for `leo-abr evaluate` only; never shipped.

XGBoost and LSTM observe the last five seconds and the second of the epoch, like T3P's predictors without geometry. All
models, ARIMA included, are trained on the other recording groups.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import xgboost  # noqa: E402
from statsmodels.tsa.arima.model import ARIMA  # noqa: E402

LAGS = 5
EPOCH_SECONDS = 15
# Seconds of the other groups that ARIMA is fitted to; more do not change its few coefficients.
ARIMA_SECONDS = 4000
ARIMA_ORDER = (2, 1, 2)
TREES = 300
LSTM_UNITS = 32
LSTM_STEPS = 1500
BATCH = 256


def main() -> int:
    parser = argparse.ArgumentParser(prog="leo_abr_training.points")
    parser.add_argument("--series", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    header = json.loads(args.series.read_text(encoding="utf-8"))
    history, series = header["historySeconds"], header["series"]
    for one in series:
        one["values"] = np.array(one["values"], np.float64)
    predictions = {name: [None] * len(series) for name in ("XGBoost", "LSTM", "ARIMA")}
    for kind in sorted({one["kind"] for one in series}):
        of_kind = [i for i, one in enumerate(series) if one["kind"] == kind]
        groups = sorted({series[i]["group"] for i in of_kind})
        if len(groups) < 2:
            print(f"{kind}: skipped, training needs a second recording group", flush=True)
            continue
        for done, group in enumerate(groups):
            train = [series[i] for i in of_kind if series[i]["group"] != group]
            test = [i for i in of_kind if series[i]["group"] == group]
            for name, fit in (("XGBoost", fit_xgboost), ("LSTM", fit_lstm), ("ARIMA", fit_arima)):
                predict = fit(train, history, args.seed)
                for i in test:
                    predictions[name][i] = [round(float(v), 4) for v in predict(series[i])]
            print(f"{kind}: group {done + 1} of {len(groups)} ({group})", flush=True)
    args.out.write_text(json.dumps(predictions), encoding="utf-8")
    return 0


def windows(one: dict, history: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The last values [row, lag], the second of the epoch [row] (NaN: unknown), and the target [row]."""
    values = one["values"]
    ends = np.arange(history, len(values))
    lags = np.lib.stride_tricks.sliding_window_view(values, LAGS)[ends - LAGS]
    begin = np.nan if one["epochSecond"] is None else one["epochSecond"]
    return lags, (begin + ends) % EPOCH_SECONDS, values[ends]


def gathered(train: list[dict], history: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    parts = [windows(one, history) for one in train]
    return tuple(np.concatenate([part[i] for part in parts]) for i in range(3))


def fit_xgboost(train: list[dict], history: int, seed: int):
    lags, seconds, targets = gathered(train, history)
    parameters = {"max_depth": 6, "eta": 0.05, "subsample": 0.8, "objective": "reg:squarederror"}
    parameters |= {"seed": seed, "nthread": 1}
    known = xgboost.DMatrix(np.column_stack([lags, seconds]), targets)
    model = xgboost.train(parameters, known, num_boost_round=TREES)

    def predict(one: dict) -> np.ndarray:
        lags, seconds, _ = windows(one, history)
        return np.maximum(model.predict(xgboost.DMatrix(np.column_stack([lags, seconds]))), 0)

    return predict


def fit_arima(train: list[dict], history: int, seed: int):
    # Concatenate recordings with gaps of NaN, which the state-space filter skips.
    parts, seconds = [], 0
    share = max(60, ARIMA_SECONDS // len(train))
    for one in train:
        parts += [one["values"][:share], np.full(30, np.nan)]
        seconds += min(share, len(one["values"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = ARIMA(np.concatenate(parts), order=ARIMA_ORDER).fit()

    def predict(one: dict) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ahead = fitted.apply(one["values"]).fittedvalues
        return np.maximum(ahead[history:], 0)

    return predict


def lstm(parameters: dict, inputs: jnp.ndarray) -> jnp.ndarray:
    """One value per row of inputs [row, lag, feature]."""

    def cell(state, x):
        hidden, memory = state
        gates = x @ parameters["in"] + hidden @ parameters["across"] + parameters["bias"]
        update, forget, output, candidate = jnp.split(gates, 4, axis=1)
        memory = jax.nn.sigmoid(forget + 1) * memory + jax.nn.sigmoid(update) * jnp.tanh(candidate)
        return (jax.nn.sigmoid(output) * jnp.tanh(memory), memory), None

    zeros = jnp.zeros((inputs.shape[0], LSTM_UNITS))
    (hidden, _), _ = jax.lax.scan(cell, (zeros, zeros), jnp.swapaxes(inputs, 0, 1))
    return hidden @ parameters["out"] + parameters["offset"]


@jax.jit
def lstm_step(parameters, first, second, count, rate, inputs, targets):
    """One step of Adam on the squared error."""
    gradient = jax.grad(lambda p: jnp.mean((lstm(p, inputs) - targets) ** 2))(parameters)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
    parameters = jax.tree.map(
        lambda p, m, v: p - rate * (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8),
        parameters,
        first,
        second,
    )
    return parameters, first, second


def fit_lstm(train: list[dict], history: int, seed: int):
    lags, seconds, targets = gathered(train, history)
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
        "in": normal(3, 4 * LSTM_UNITS),
        "across": normal(LSTM_UNITS, 4 * LSTM_UNITS),
        "bias": jnp.zeros(4 * LSTM_UNITS),
        "out": normal(LSTM_UNITS) * 0.1,
        "offset": jnp.zeros(()),
    }
    first = jax.tree.map(jnp.zeros_like, parameters)
    second = jax.tree.map(jnp.zeros_like, parameters)
    for step in range(LSTM_STEPS):
        at = rng.integers(0, len(inputs), BATCH)
        rate = 3e-3 * 0.5 * (1 + np.cos(np.pi * step / LSTM_STEPS))
        parameters, first, second = lstm_step(parameters, first, second, step + 1.0, rate, inputs[at], wanted[at])

    def predict(one: dict) -> np.ndarray:
        lags, seconds, _ = windows(one, history)
        return np.maximum(lags[:, -1] + spread * np.asarray(lstm(parameters, inputs_of(lags, seconds))), 0)

    return predict


if __name__ == "__main__":
    sys.exit(main())
