"""Windows, the temporal network and the scores, on made-up links; numpy alone. The trees' test needs xgboost."""

import base64
import importlib.util
import unittest
from dataclasses import replace

import numpy as np
from leo_abr_training.distributions import (
    distribution_scores,
    estimator_quantiles,
    given_quantiles,
    held_out_quantiles,
    weighted_quantiles,
)
from leo_abr_training.temporal_file import temporal_file
from leo_abr_training.temporal_network import (
    TemporalSettings,
    first_temporal_parameters,
    fit_temporal,
    temporal_loss_gradient,
)
from leo_abr_training.windows import EPOCH_SECONDS, LAGS, RATIO, SEEN, THIS_EPOCH, Windows, windows_of

LEVELS = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
STEPS = [1, 2, 4]
SETTINGS = TemporalSettings(channels=(6, 8, 8), dense=12, members=1, steps=600, batch=128, learning_rate=1e-2)


def made_up_series(group: str, seed: int, seconds: int = 400, level: float = 50) -> dict:
    """Each epoch has a level of its own, around which seconds scatter."""
    rng = np.random.default_rng(seed)
    epochs = np.repeat(rng.normal(0, 0.5, seconds // EPOCH_SECONDS + 1), EPOCH_SECONDS)[:seconds]
    values = level * np.exp(epochs + rng.normal(0, 0.1, seconds))
    return {"values": values.tolist(), "group": group, "dataset": f"of {group}", "epochSecond": 12, "kind": "throughput"}


def made_up_windows(**changes) -> Windows:
    return windows_of([{**made_up_series(group, i), **changes} for i, group in enumerate("abc")], STEPS, 20)


class Moments(unittest.TestCase):
    def test_have_what_was_seen_and_what_came(self):
        values = np.arange(1.0, 101)
        series = {"values": values.tolist(), "group": "a", "dataset": "d", "epochSecond": 0}
        windows = windows_of([series], STEPS, 20)
        self.assertEqual(len(windows.targets), 80)
        # At second 20, the seconds 0 to 19 were seen, newest last.
        np.testing.assert_array_equal(windows.history[0, :, SEEN], np.arange(LAGS) >= LAGS - 20)
        ratios = np.exp(windows.history[0, -20:, RATIO] + windows.reference[0])
        np.testing.assert_allclose(ratios, values[:20], rtol=1e-5)
        np.testing.assert_allclose(np.exp(windows.targets[0] + windows.reference[0]), [21, 22, 23.5], rtol=1e-5)
        self.assertEqual(np.isnan(windows.targets[-4:]).tolist(), [[0, 0, 0], [0, 0, 1], [0, 0, 1], [0, 1, 1]])
        # Second 20 is 8 s into the epoch that began at second 12.
        self.assertEqual(windows.epoch_second[0], 8)
        self.assertEqual(windows.history[0, :, THIS_EPOCH].sum(), 8)

    def test_do_not_depend_on_how_fast_the_link_is(self):
        slow, fast = (windows_of([made_up_series("a", 1, level=level)], STEPS, 20) for level in (2, 200))
        np.testing.assert_allclose(slow.history, fast.history, atol=1e-4)
        np.testing.assert_allclose(slow.targets, fast.targets, atol=1e-4)

    def test_bear_an_outage_and_a_recording_without_a_clock(self):
        windows = windows_of([{**made_up_series("a", 1), "values": [0.0] * 60, "epochSecond": None}], STEPS, 20)
        self.assertTrue(np.isfinite(windows.history).all())
        self.assertTrue(np.isfinite(windows.moment).all())
        self.assertTrue(np.isnan(windows.epoch_second).all())
        self.assertEqual(windows.history[..., THIS_EPOCH].sum(), 0)

    def test_need_whole_steps_and_something_to_look_at(self):
        with self.assertRaisesRegex(ValueError, "whole seconds"):
            windows_of([made_up_series("a", 1)], [0.5], 20)
        with self.assertRaisesRegex(ValueError, "more than 20 s"):
            windows_of([made_up_series("a", 1, seconds=20)], STEPS, 20)


class TemporalNetworks(unittest.TestCase):
    def test_gradient_is_the_slope_of_the_loss(self):
        rng = np.random.default_rng(1)
        windows = made_up_windows()
        parameters = first_temporal_parameters(SETTINGS, windows.layout, len(STEPS) * len(LEVELS), len(LEVELS), rng)
        parameters = [value.astype(np.float64) for value in parameters]
        at = slice(100, 130)
        inputs = (windows.history[at].astype(np.float64), windows.moment[at].astype(np.float64))
        weights = rng.uniform(0.5, 2, 30)
        _, gradient = temporal_loss_gradient(parameters, inputs, windows.targets[at], weights, LEVELS)
        for i, slope in enumerate(gradient):
            for index in [(0,) * slope.ndim, tuple(np.array(slope.shape) // 2)]:
                losses = []
                for shift in (-1e-5, 1e-5):
                    moved = [value.copy() for value in parameters]
                    moved[i][index] += shift
                    losses.append(temporal_loss_gradient(moved, inputs, windows.targets[at], weights, LEVELS)[0])
                self.assertAlmostEqual((losses[1] - losses[0]) / 2e-5, float(slope[index]), delta=2e-3)

    def test_file_has_all_inputs_by_name_and_examples(self):
        windows = made_up_windows()
        chosen = np.arange(len(windows.targets))
        fitted = fit_temporal(windows, chosen, np.ones(len(chosen)), LEVELS, replace(SETTINGS, steps=5), seed=1)
        file = temporal_file(fitted, windows, STEPS, "made up", seed=1)
        self.assertEqual(len(file["channels"]), windows.history.shape[2])
        self.assertEqual(len(file["moment"]), windows.moment.shape[1])
        weights = np.frombuffer(base64.b64decode(file["networks"][0][0]["weights"]), "<f4")
        np.testing.assert_array_equal(weights, fitted.members[0][0].ravel())
        first, last = file["golden"][0], file["golden"][-1]
        np.testing.assert_allclose(first["history"], windows.history[0].ravel(), atol=1e-6)
        np.testing.assert_allclose(last["logRatios"], fitted.quantiles(windows, chosen[-1:]).ravel(), atol=1e-6)

    def test_learn_epochs_never_cross_and_are_the_same_again(self):
        windows = made_up_windows()
        train, test = np.flatnonzero(windows.group != 2), np.flatnonzero(windows.group == 2)
        fitted = fit_temporal(windows, train, np.ones(len(train)), LEVELS, SETTINGS, seed=1)
        quantiles = fitted.quantiles(windows, test)
        self.assertTrue((np.diff(quantiles, axis=-1) >= 0).all())
        # In the middle of an epoch its level is known, in its last second the next one's is not.
        widths = quantiles[:, 0, 4] - quantiles[:, 0, 0]
        second = windows.epoch_second[test]
        self.assertLess(2 * widths[(second > 4) & (second < 12)].mean(), widths[second == 0].mean())
        again = fit_temporal(windows, train, np.ones(len(train)), LEVELS, SETTINGS, seed=1)
        np.testing.assert_array_equal(again.quantiles(windows, test), quantiles)
        other = fit_temporal(windows, train, np.ones(len(train)), LEVELS, SETTINGS, seed=2)
        self.assertTrue((other.quantiles(windows, test) != quantiles).any())


class Scores(unittest.TestCase):
    def test_folds_never_learn_from_what_they_are_judged_on(self):
        windows = made_up_windows()
        seen = []

        class Fitted:
            def quantiles(self, of: Windows, chosen: np.ndarray) -> np.ndarray:
                seen[-1].append(set(of.group[chosen].tolist()))
                return np.zeros((len(chosen), len(STEPS), len(LEVELS)))

        def fit(of: Windows, chosen: np.ndarray, *_) -> Fitted:
            seen.append([set(of.group[chosen].tolist())])
            return Fitted()

        forecasts = held_out_quantiles(windows, LEVELS, {"model": fit}, seed=1)
        self.assertEqual(seen, [[{1, 2}, {0}], [{0, 2}, {1}], [{0, 1}, {2}]])
        self.assertTrue((forecasts["model"] == 0).all())

    def test_are_those_of_quantiles_that_are_known(self):
        # White noise whose true quantiles everybody can tell.
        rng = np.random.default_rng(3)
        series = made_up_series("a", 1)
        values = 50 * np.exp(rng.normal(0, 0.2, 4000))
        rates = 50 * np.exp(0.2 * np.array([-1.2816, -0.6745, 0, 0.6745, 1.2816]))
        told = [rates.tolist() for _ in range(4000 - 20)]
        series |= {"values": values.tolist(), "forecasts": {"truth": told, "silent at first": [None, *told[1:]]}}
        windows = windows_of([series], [1], 20)
        forecasts = given_quantiles([series], windows, LEVELS)
        of = distribution_scores(windows, forecasts, LEVELS, [1])["pooled"]
        self.assertEqual(of["forecasts"], 4000 - 21)
        self.assertAlmostEqual(of["coverage50"]["truth"][0], 0.5, delta=0.03)
        self.assertAlmostEqual(of["coverage90"]["truth"][0], 0.9, delta=0.02)
        # The CRPS of a normal distribution is its deviation / sqrt(pi); five levels are a coarse rule.
        self.assertAlmostEqual(of["crps"]["truth"][0], 0.2 / np.sqrt(np.pi), delta=0.01)
        self.assertEqual(of["pinball"]["truth"], of["pinball"]["silent at first"])

    def test_of_estimators_use_the_errors_elsewhere(self):
        series = [made_up_series(group, i) for i, group in enumerate("abc")]
        windows = windows_of(series, STEPS, 20)
        forecasts = estimator_quantiles(series, windows, LEVELS)
        self.assertEqual(list(forecasts), ["last value", "harmonic mean", "EWMA 2 s", "EWMA 8 s", "EWMA 30 s"])
        # The reference is the moving average of 30 s: its error is what came.
        others = windows.group != 0
        errors = windows.targets[others & ~np.isnan(windows.targets[:, 2]), 2]
        expected = weighted_quantiles(errors, np.ones(len(errors)), LEVELS)
        np.testing.assert_allclose(forecasts["EWMA 30 s"][5, 2], expected, atol=1e-5)
        scores = distribution_scores(windows, forecasts, LEVELS, STEPS)
        self.assertEqual(list(scores), ["of a", "of b", "of c", "pooled"])
        self.assertAlmostEqual(scores["pooled"]["coverage90"]["last value"][0], 0.9, delta=0.07)

    def test_quantiles_count_weights(self):
        values, weights = np.array([3.0, 1, 2]), np.array([1.0, 1, 2])
        np.testing.assert_allclose(weighted_quantiles(values, weights, np.array([0.125, 0.5, 0.99])), [1, 2, 3])


@unittest.skipUnless(importlib.util.find_spec("xgboost"), "xgboost is not installed: the evaluation's environment has it")
class Trees(unittest.TestCase):
    def test_learn_epochs_and_are_the_same_again(self):
        from leo_abr_training.boosting import BoostingSettings
        from leo_abr_training.quantile_trees import fit_trees

        settings = BoostingSettings(rounds=30, depth=3, rows=600)
        windows = made_up_windows()
        # A step that nobody has seen.
        windows = replace(windows, targets=np.where(np.arange(3) < 2, windows.targets, np.nan).astype(np.float32))
        train, test = np.flatnonzero(windows.group != 2), np.flatnonzero(windows.group == 2)
        fitted = fit_trees(windows, train, np.ones(len(train)), LEVELS, settings, 1)
        quantiles = fitted.quantiles(windows, test)
        self.assertEqual(quantiles.shape, (len(test), 3, len(LEVELS)))
        self.assertTrue((np.diff(quantiles[:, :2], axis=-1) >= 0).all())
        self.assertTrue(np.isnan(quantiles[:, 2]).all())
        second = windows.epoch_second[test]
        widths = quantiles[:, 0, 4] - quantiles[:, 0, 0]
        self.assertLess(1.5 * widths[(second > 4) & (second < 12)].mean(), widths[second == 0].mean())
        again = fit_trees(windows, train, np.ones(len(train)), LEVELS, settings, 1).quantiles(windows, test)
        np.testing.assert_array_equal(again, quantiles)


if __name__ == "__main__":
    unittest.main()
