"""The file of a temporal network, from which `leo-abr export` makes ONNX: weights, what goes in and comes out, examples."""

from __future__ import annotations

import numpy as np

from .geometry import GEOMETRY_FEATURES
from .packing import listed, packed
from .temporal_network import WIDTHS, TemporalNetwork
from .windows import LAGS, REFERENCE_SECONDS, Windows

FORMAT = "leo-abr temporal network"
VERSION = 1
# Moments whose outcomes go with the model.
GOLDEN_MOMENTS = 3

# In the order of windows.py.
CHANNELS_MEANING = {
    "ratio": f"ln of the second's rate to the session's level, the average that fades with {REFERENCE_SECONDS} s",
    "seen": "1 where the second is of the session, else 0 in all channels",
    "epoch-sine": "sine of the second's position in the 15 s epoch; 0 where no handover is known",
    "epoch-cosine": "its cosine",
    "this-epoch": "1 where the second lies in the epoch of the moment",
}
MOMENT_MEANING = {
    "lasted": "ln(1 + seconds of the session, at most 120) / 2",
    "level-120s": "ln of the average that fades with 120 s to the session's level",
    **{name: "of the sky; 0 where not known" for name in GEOMETRY_FEATURES},
    **{f"{name}-known": f"1 where {name} is known, else 0" for name in GEOMETRY_FEATURES},
}


def temporal_file(fitted: TemporalNetwork, windows: Windows, step_ends: list[float], name: str, seed: int) -> dict:
    """Weights are little-endian float32 as base64, so that a reader gets just these."""
    golden = np.linspace(0, len(windows.targets) - 1, GOLDEN_MOMENTS).astype(int)
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "lags": LAGS,
        "widths": list(WIDTHS),
        "channels": [{"name": of, "meaning": meaning} for of, meaning in CHANNELS_MEANING.items()],
        "moment": [{"name": of, "meaning": meaning} for of, meaning in MOMENT_MEANING.items()],
        "stepEndsSeconds": [float(end) if end % 1 else int(end) for end in step_ends],
        "levels": [round(float(level), 6) for level in fitted.levels],
        "networks": [
            [
                {"weights": packed(weights), "biases": packed(biases)}
                for weights, biases in zip(one[::2], one[1::2], strict=True)
            ]
            for one in fitted.members
        ],
        "fit": {"seed": seed, "rows": len(windows.targets), "numpy": np.__version__},
        "golden": [
            {
                "history": listed(windows.history[row]),
                "moment": listed(windows.moment[row]),
                "logRatios": listed(fitted.quantiles(windows, np.array([row]))),
            }
            for row in golden
        ],
    }
