"""The model file (predictor/built-in/model-file.ts reads it): weights as bytes with a scale per input."""

from __future__ import annotations

import base64

import numpy as np

from .fit import Fitted
from .network import Parameters
from .rows import Rows

FORMAT = "leo-abr quantile networks"
VERSION = 1


def _base64(values: np.ndarray) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")


def quantised(parameters: Parameters) -> tuple[list[dict[str, str]], Parameters]:
    """Layers of a model file, and the parameters that a reader gets from them."""
    layers = []
    read: Parameters = []
    for layer in range(0, len(parameters), 2):
        weights, biases = parameters[layer], parameters[layer + 1].astype("<f4")
        scales = (np.maximum(np.abs(weights).max(1), 1e-12) / 127).astype("<f4")
        steps = np.clip(np.rint(weights / scales[:, None]), -127, 127).astype(np.int8)
        layers.append({"weights": _base64(steps), "scales": _base64(scales), "biases": _base64(biases)})
        read += [steps.astype(np.float32) * scales[:, None], biases.astype(np.float32)]
    return layers, read


def model_file(fitted: Fitted, rows: Rows, name: str, rank_correlation: float) -> dict:
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "features": rows.feature_names,
        "stepEndsSeconds": [float(end) if end % 1 else int(end) for end in rows.step_ends],
        "levels": [round(float(level), 6) for level in fitted.levels],
        "rankCorrelation": round(rank_correlation, 3),
        "networks": [quantised(member)[0] for member in fitted.members],
    }


def as_read(fitted: Fitted) -> Fitted:
    """The networks as a reader of the model file gets them."""
    return Fitted([quantised(member)[1] for member in fitted.members], fitted.levels)
