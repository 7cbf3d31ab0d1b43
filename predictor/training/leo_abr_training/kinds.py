"""The kinds of models that rows are fitted with: one way to fit, to forecast held-out rows, and to write a file each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .estimators import fit_estimator
from .fit import Settings, fit
from .model_file import as_read, model_file
from .rows import Rows

NETWORKS, TREES, TEMPORAL = KINDS = ("networks", "trees", "temporal")


@dataclass(frozen=True)
class Kind:
    settings: dict
    # Rows, indices of those to learn from, seed; what it gives has `levels`.
    fit: Callable[[Rows, np.ndarray, int], Any]
    # [row, step, level] of rows by their indices, as a reader of the file gets them.
    quantiles: Callable[[Any, Rows, np.ndarray], np.ndarray]
    # Of a fit, with the rows, a name and the rank correlation.
    file: Callable[[Any, Rows, str, float], dict]


def kind_of(name: str, estimator: str | None = None) -> Kind:
    """Modules are loaded here, so that each kind needs only what it needs: XGBoost is for trees alone."""
    if name == TREES:
        from .session_trees import SessionTreeSettings, fit_session_trees, session_trees_file

        trees = SessionTreeSettings()
        return Kind(
            asdict(trees),
            lambda rows, chosen, seed: fit_session_trees(rows, chosen, trees, seed),
            lambda fitted, rows, chosen: fitted.quantiles(rows, chosen),
            session_trees_file,
        )
    if name == TEMPORAL:
        from .session_temporal import SessionTemporalSettings, fit_session_temporal, session_temporal_file

        temporal = SessionTemporalSettings()
        return Kind(
            asdict(temporal),
            lambda rows, chosen, seed: fit_session_temporal(rows, rows.binned(chosen), temporal, seed),
            lambda fitted, rows, chosen: fitted.quantiles(rows, chosen),
            session_temporal_file,
        )
    settings = Settings()
    if estimator is None:
        learn = lambda rows, chosen, seed: fit(rows, chosen, settings, seed)  # noqa: E731
    else:
        learn = lambda rows, chosen, _: fit_estimator(rows, chosen, estimator, settings)  # noqa: E731
    return Kind(
        asdict(settings) if estimator is None else {"estimator": estimator},
        learn,
        lambda fitted, rows, chosen: as_read(fitted).quantiles(rows.features[chosen]),
        model_file,
    )
