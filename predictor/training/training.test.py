"""`python predictor/training/training.test.py`, in the environment of `leo-abr train`."""

import unittest

import numpy as np
from leo_abr_training.fit import Settings, fit
from leo_abr_training.folds import held_out_of, scores_by_dataset, training_sets
from leo_abr_training.model_file import DIGITS, as_read, model_file
from leo_abr_training.network import first_parameters, loss_gradient, quantiles_of
from leo_abr_training.rows import Rows

LEVELS = np.array([0.1, 0.5, 0.9], np.float32)


def synthetic_rows(count: int = 3000) -> Rows:
    """One feature determines the median; one handover feature determines the spread."""
    rng = np.random.default_rng(5)
    features = np.stack([rng.normal(size=count), rng.integers(0, 2, count)], 1).astype(np.float32)
    noise = rng.normal(size=(count, 2)) * np.where(features[:, 1:] > 0, 0.5, 0.1)
    targets = (features[:, :1] * np.array([1, 0.5]) + noise).astype(np.float32)
    targets[::50, 1] = np.nan
    dataset = np.arange(count) % 3 // 2
    return Rows(
        features=features,
        targets=targets,
        group=np.arange(count) % 3,
        dataset=dataset,
        is_plain=np.arange(count) % 2 == 0,
        feature_names=["level", "spread"],
        step_ends=np.array([1.0, 2.0]),
        groups=["a", "b", "c", "too short"],
        datasets=["one", "two"],
        is_left_out=dataset == 1,
        model_version=1,
    )


SETTINGS = Settings(levels=(0.1, 0.5, 0.9), hidden=(8,), epochs=50, batch=128)


class Network(unittest.TestCase):
    def test_gradient_matches_finite_differences(self):
        rng = np.random.default_rng(1)
        parameters = [value.astype(np.float64) for value in first_parameters([4, 6, 6], 3, rng)]
        features = rng.normal(size=(20, 4))
        targets = rng.normal(size=(20, 2))
        targets[3, 1] = np.nan
        weights = rng.uniform(0.5, 2, 20)
        _, gradient = loss_gradient(parameters, features, targets, weights, LEVELS)
        for value, slope in zip(parameters, gradient):
            for index in [(0,) * value.ndim, tuple(np.array(value.shape) - 1)]:
                losses = []
                for shift in (-1e-5, 1e-5):
                    moved = [other.copy() for other in parameters]
                    position = next(i for i, other in enumerate(parameters) if other is value)
                    moved[position][index] += shift
                    losses.append(loss_gradient(moved, features, targets, weights, LEVELS)[0])
                self.assertAlmostEqual((losses[1] - losses[0]) / 2e-5, float(slope[index]), delta=2e-3)

    def test_quantiles_never_cross(self):
        rng = np.random.default_rng(2)
        quantiles = quantiles_of(first_parameters([3, 5, 9], 3, rng), rng.normal(size=(50, 3)) * 30, 3)
        self.assertTrue((np.diff(quantiles, axis=-1) >= 0).all())


class Fit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = synthetic_rows()
        cls.fitted = fit(cls.rows, np.arange(len(cls.rows.features)), SETTINGS, seed=1)

    def test_learns_medians_and_spreads_deterministically(self):
        rows, fitted = self.rows, self.fitted
        chosen = np.arange(len(rows.features))
        calm, restless = fitted.quantiles(np.array([[1, 0], [1, 1]], np.float32))[:, 0]
        self.assertAlmostEqual(float(calm[1]), 1, delta=0.1)
        self.assertAlmostEqual(float(calm[2] - calm[0]), 2 * 1.2816 * 0.1, delta=0.1)
        self.assertAlmostEqual(float(restless[2] - restless[0]), 2 * 1.2816 * 0.5, delta=0.3)
        again = model_file(fit(rows, chosen, SETTINGS, seed=1), rows, "synthetic", 0.5)
        self.assertEqual(model_file(fitted, rows, "synthetic", 0.5), again)
        self.assertNotEqual(model_file(fit(rows, chosen, SETTINGS, seed=2), rows, "synthetic", 0.5), again)

    def test_rounding_for_the_file_changes_little(self):
        rows, fitted = self.rows, self.fitted
        change = as_read(fitted).quantiles(rows.features) - fitted.quantiles(rows.features)
        self.assertLess(float(np.abs(change).mean()), 0.03)

    def test_a_file_has_a_digit_per_step_and_scale(self):
        rows, fitted = self.rows, self.fitted
        read = as_read(fitted).parameters
        for l, layer in enumerate(model_file(fitted, rows, "synthetic", 0.5)["layers"]):
            scales = 2.0 ** (-np.array([DIGITS.index(digit) for digit in layer["scales"]]) / 4)
            steps = np.array([DIGITS.index(digit) - 31 for digit in layer["weights"]]).reshape(len(scales), -1)
            values = steps * scales[:, None]
            np.testing.assert_allclose(read[2 * l], values[:-2], rtol=1e-6)
            np.testing.assert_allclose(read[2 * l + 1], values[-2] + values[-1], rtol=1e-5)
            np.testing.assert_allclose(read[2 * l + 1], fitted.parameters[2 * l + 1], atol=scales[-1] / 2)

    def test_accepts_fewer_rows_than_a_batch(self):
        fitted = fit(self.rows, np.arange(7), SETTINGS, seed=1)
        self.assertTrue(np.isfinite(fitted.quantiles(self.rows.features)).all())


class Folds(unittest.TestCase):
    def test_hold_out_whole_groups_and_excluded_data_sets(self):
        rows = synthetic_rows()
        # Group c is of an excluded data set and the last group has no rows: both use the model of all training rows.
        self.assertEqual(training_sets(rows), {0: [0], 1: [1], None: [2, 3]})
        self.assertEqual(set(rows.group[rows.training(0)]), {1})
        self.assertEqual(set(rows.group[rows.training(None)]), {0, 1})
        fitted = fit(rows, rows.training(None), SETTINGS, seed=1)
        evaluated = [held_out_of(rows, fitted.quantiles, fitted.levels, group) for group in range(4)]
        self.assertEqual(len(evaluated[3].rows), 0)
        scores = scores_by_dataset(rows, evaluated)["datasets"]
        self.assertEqual(set(scores), {"one", "two"})
        self.assertAlmostEqual(scores["one"]["coverage90"][1], 0.9, delta=0.08)


if __name__ == "__main__":
    unittest.main()
