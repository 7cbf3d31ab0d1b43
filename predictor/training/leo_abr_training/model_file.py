"""The model file, which predictor/forecast/model-file.ts reads."""

from __future__ import annotations

from .fit import Fitted, quantised, rounded
from .network import Parameters
from .rows import Rows

FORMAT = "leo-abr quantile network"

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
MIDDLE = 31


def layers_of(parameters: Parameters) -> list[dict]:
    """Layers with a digit per weight and one per scale."""
    layers = []
    for layer in range(0, len(parameters), 2):
        exponents, steps = quantised(*parameters[layer : layer + 2])
        weights = "".join(DIGITS[MIDDLE + step] for step in steps.ravel())
        layers.append({"weights": weights, "scales": "".join(DIGITS[exponent] for exponent in exponents)})
    return layers


def model_file(fitted: Fitted, rows: Rows, name: str, rank_correlation: float) -> dict:
    return {
        "format": FORMAT,
        "version": rows.model_version,
        "name": name,
        "features": rows.feature_names,
        "stepEndsSeconds": [float(end) if end % 1 else int(end) for end in rows.step_ends],
        "levels": [round(float(level), 6) for level in fitted.levels],
        "rankCorrelation": round(rank_correlation, 3),
        "layers": layers_of(fitted.parameters),
    }


def as_read(fitted: Fitted) -> Fitted:
    """The network as decoded from the model file."""
    return Fitted(rounded(fitted.parameters), fitted.levels)
