"""XGBoost of T3P's Table 1, without geometry: the last five seconds, and the second of the epoch.

`python predictor/training/table1/t3p_xgboost.py <folder of traces>...` needs xgboost-cpu 3.2.0 and numpy.
"""

from __future__ import annotations

import numpy as np
import xgboost
from series import Series, run, windows_of

TREES = 300


def fit(train: list[Series], seed: int):
    lags, seconds, targets = windows_of(train)
    parameters = {"max_depth": 6, "eta": 0.05, "subsample": 0.8, "objective": "reg:squarederror"}
    parameters |= {"seed": seed, "nthread": 1}
    known = xgboost.DMatrix(np.column_stack([lags, seconds]), targets)
    model = xgboost.train(parameters, known, num_boost_round=TREES)

    def predict(one: Series) -> np.ndarray:
        lags, seconds, _ = one.windows()
        return np.maximum(model.predict(xgboost.DMatrix(np.column_stack([lags, seconds]))), 0)

    return predict


if __name__ == "__main__":
    run("XGBoost", fit)
