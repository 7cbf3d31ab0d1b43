"""Arrays in JSON."""

from __future__ import annotations

import base64

import numpy as np


def packed(values: np.ndarray, form: str = "<f4") -> str:
    """Base64 of the numbers in this form of numpy, so that a reader gets just these."""
    return base64.b64encode(values.astype(form).tobytes()).decode("ascii")


def listed(values: np.ndarray) -> list[float]:
    """Six digits behind the point."""
    # No -0: readers of JSON differ on it.
    return [round(float(value), 6) + 0.0 for value in values.ravel()]
