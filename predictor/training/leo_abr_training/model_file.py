"""The model file, which predictor/forecast/model-file.ts reads. A weight is one character, for one of 63 steps."""

from __future__ import annotations

import base64

import numpy as np

from .fit import GREATEST_STEP, Fitted
from .network import Parameters
from .rows import Rows

FORMAT = "leo-abr quantile networks"
VERSION = 2

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def _packed(values: np.ndarray) -> tuple[dict, np.ndarray]:
    """Packs numbers as 16-bit multiples of a unit. Returns the packed form and the values that a reader decodes."""
    unit = float(f"{max(float(np.abs(values).max()), 1e-9) / 32767:.6e}")
    steps = np.clip(np.rint(values / unit), -32767, 32767).astype("<i2")
    packed = {"unit": unit, "steps": base64.b64encode(steps.tobytes()).decode("ascii")}
    return packed, (steps * unit).astype(np.float32)


def quantised(parameters: Parameters) -> tuple[list[dict], Parameters]:
    """Returns the layers of a model file and the parameters that a reader decodes."""
    layers = []
    read: Parameters = []
    for layer in range(0, len(parameters), 2):
        weights, biases = parameters[layer], parameters[layer + 1]
        scales, scales_read = _packed(np.abs(weights).max(1) / GREATEST_STEP)
        # The scale of a negligible input may be 0.
        divisor = np.where(scales_read > 0, scales_read, 1)[:, None]
        steps = np.clip(np.rint(weights / divisor), -GREATEST_STEP, GREATEST_STEP).astype(int)
        packed_biases, biases_read = _packed(biases)
        text = "".join(DIGITS[step + GREATEST_STEP] for step in steps.ravel())
        layers.append({"weights": text, "scales": scales, "biases": packed_biases})
        read += [(steps * scales_read[:, None]).astype(np.float32), biases_read]
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
    """The networks as decoded from the model file."""
    return Fitted([quantised(member)[1] for member in fitted.members], fitted.levels)
