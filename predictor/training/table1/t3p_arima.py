"""ARIMA of T3P's Table 1.

`python predictor/training/table1/t3p_arima.py <folder of traces>...` needs statsmodels 0.15.0 and numpy.
"""

from __future__ import annotations

import warnings

import numpy as np
from series import HISTORY_SECONDS, Series, run
from statsmodels.tsa.arima.model import ARIMA

ORDER = (2, 1, 2)
# Seconds of the other groups that it is fitted to; more do not change its few coefficients.
FITTED_SECONDS = 4000


def fit(train: list[Series], seed: int):
    # Concatenate recordings with gaps of NaN, which the state-space filter skips.
    share = max(60, FITTED_SECONDS // len(train))
    parts = [part for one in train for part in (one.values[:share], np.full(30, np.nan))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = ARIMA(np.concatenate(parts), order=ORDER).fit()

    def predict(one: Series) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ahead = fitted.apply(one.values).fittedvalues
        return np.maximum(ahead[HISTORY_SECONDS:], 0)

    return predict


if __name__ == "__main__":
    run("ARIMA", fit)
