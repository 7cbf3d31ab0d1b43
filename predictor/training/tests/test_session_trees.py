"""Boosted trees on made-up rows; needs xgboost, which the environment of the evaluation has."""

import base64
import importlib.util
import unittest
from dataclasses import replace

import numpy as np
from leo_abr_training.folds import held_out_of
from test_training import made_up_rows


@unittest.skipUnless(importlib.util.find_spec("xgboost"), "xgboost is not installed: the evaluation's environment has it")
class SessionTrees(unittest.TestCase):
    def setUp(self):
        from leo_abr_training.session_trees import SessionTreeSettings, fit_session_trees

        self.rows = made_up_rows()
        self.everything = np.arange(len(self.rows.features))
        self.settings = SessionTreeSettings(levels=(0.1, 0.5, 0.9), depth=3, rounds=40, rows=2500, masked=0.0)
        self.fitted = fit_session_trees(self.rows, self.everything, self.settings, 1)

    def test_learn_medians_and_spreads_of_rows(self):
        at = np.array([[0.5, 0], [0.5, 1]], np.float32)
        calm, restless = self.fitted.of_features(at)[:, 0]
        self.assertAlmostEqual(float(calm[1]), 0.5, delta=0.15)
        self.assertGreater(float(restless[2] - restless[0]), 1.5 * float(calm[2] - calm[0]))

    def test_are_the_same_from_the_file(self):
        from leo_abr_training.session_trees import session_trees_file

        file = session_trees_file(self.fitted, self.rows, "made up", 0.5)
        chosen = self.everything[:50]
        read = np.stack([_evaluated(output, file["depth"], self.rows.features[chosen]) for output in file["outputs"]], 1)
        read = np.sort(read.reshape(len(chosen), 2, 3), -1)
        np.testing.assert_allclose(read, self.fitted.quantiles(self.rows, chosen), atol=1e-5)

    def test_forecast_a_step_that_no_row_reaches_to_as_the_one_before(self):
        from leo_abr_training.session_trees import fit_session_trees

        targets = np.concatenate([self.rows.targets[:, :1], np.full((len(self.everything), 1), np.nan, np.float32)], 1)
        fitted = fit_session_trees(replace(self.rows, targets=targets), self.everything, self.settings, 1)
        first, second = fitted.quantiles(self.rows, self.everything[:9]).transpose(1, 0, 2)
        np.testing.assert_array_equal(first, second)

    def test_are_judged_on_a_group_without_rows_as_on_none(self):
        judged = held_out_of(self.rows, lambda of: self.fitted.quantiles(self.rows, of), self.fitted.levels, 3)
        self.assertEqual(judged.pinball.shape, (0, 2))


def _evaluated(output: dict, depth: int, features: np.ndarray) -> np.ndarray:
    """[row], as predictor/compared/boosted-trees.ts does it."""
    inner = 2**depth - 1
    indices = np.frombuffer(base64.b64decode(output["features"]), "u1").reshape(-1, inner)
    thresholds = np.frombuffer(base64.b64decode(output["thresholds"]), "<f4").reshape(-1, inner)
    leaves = np.frombuffer(base64.b64decode(output["leaves"]), "<f4").reshape(-1, inner + 1)
    sums = np.full(len(features), output["base"])
    for tree in range(len(indices)):
        at = np.zeros(len(features), int)
        for _ in range(depth):
            goes_left = features[np.arange(len(features)), indices[tree, at]] < thresholds[tree, at]
            at = 2 * at + np.where(goes_left, 1, 2)
        sums += leaves[tree, at - inner]
    return sums


if __name__ == "__main__":
    unittest.main()
