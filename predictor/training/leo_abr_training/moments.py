"""What a temporal network is fitted to, and asked about: moments, each with the seconds seen before it and what else is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

# Seconds looked back on.
LAGS = 64
# The channel that all histories begin with: ln of the second's rate to the session's level.
RATIO = 0


@dataclass(frozen=True)
class Layout:
    """What the inputs are. `clock` are nought where no handover is known; `rates` are ln of ratios to the session's level."""

    channels: int
    features: int
    clock_channels: Sequence[int]
    clock_features: Sequence[int]
    # Features; of the channels it is `RATIO`.
    rates: Sequence[int]


class Moments(Protocol):
    @property
    def layout(self) -> Layout: ...

    @property
    def targets(self) -> np.ndarray:
        """[row, step] float32: ln of mean capacity to the session's level; NaN after the recording's end."""
        ...

    def inputs(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """History [row, lag, channel], the oldest second first, and features [row, feature], both float32 and the caller's own."""
        ...
