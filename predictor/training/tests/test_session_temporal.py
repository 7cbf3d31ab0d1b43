"""The temporal network on rows of sessions, on made-up links; numpy alone."""

import base64
import unittest
from dataclasses import replace

import numpy as np
from leo_abr_training.moments import LAGS
from leo_abr_training.rows import Rows
from leo_abr_training.session_temporal import (
    AGE,
    CHANNELS,
    GOLDEN_ROWS,
    LAYOUT,
    MOMENT_INPUTS,
    ROW_FEATURES,
    THIS_EPOCH,
    SessionMoments,
    SessionTemporalSettings,
    fit_session_temporal,
    session_temporal_file,
)
from leo_abr_training.windows import windows_of

HATS = 8
NAMES = ["level-0.4s", "level-2s", "level-120s", "silence", "unseen", "observed"]
NAMES += [f"epoch-phase-{i}" for i in range(HATS)] + ["handover-known"]
SETTINGS = SessionTemporalSettings(
    levels=(0.1, 0.5, 0.9), channels=(4, 4, 6), dense=8, members=2, steps=300, batch=64, learning_rate=1e-2, masked=0.0
)


def hats_of(epoch_seconds: np.ndarray) -> np.ndarray:
    """[row, hat], as predictor/link-history.ts spreads positions."""
    position = epoch_seconds / 15 * HATS
    hat = np.floor(position).astype(int)
    hats = np.zeros((len(position), HATS), np.float32)
    at = np.arange(len(position))
    hats[at, hat % HATS] = 1 - (position - hat)
    hats[at, (hat + 1) % HATS] = position - hat
    return hats


def made_up_rows(count: int = 1200, every: int = 1) -> Rows:
    """What comes is the rate of the oldest bin where it is of the last 100 s, and else that of the newest."""
    rng = np.random.default_rng(3)
    features = np.zeros((count, len(NAMES)), np.float32)
    features[:, : len(ROW_FEATURES)] = rng.normal(0, 0.3, (count, len(ROW_FEATURES)))
    is_known = rng.random(count) < 0.7
    features[:, NAMES.index("epoch-phase-0") : -1] = hats_of(rng.uniform(0, 15, count)) * is_known[:, None]
    features[:, -1] = is_known
    bins = np.empty((len(range(0, count, every)), LAGS, 2), np.float32)
    bins[..., 0] = rng.normal(0, 0.5, bins.shape[:2])
    pause = rng.choice([0, 60], len(bins))
    bins[..., 1] = LAGS - 1 - np.arange(LAGS) + pause[:, None]
    # Some sessions have only begun.
    bins[5::10, : LAGS - 3] = np.nan
    oldest, newest = bins[:, 0, 0], bins[:, -1, 0]
    expected = np.where(np.isnan(oldest) | (pause > 0), newest, oldest)
    targets = np.repeat(expected, every)[:count, None] + rng.normal(0, 0.05, (count, 2))
    return Rows(
        features=features,
        targets=targets.astype(np.float32),
        group=np.arange(count) % 3,
        dataset=np.arange(count) % 2,
        is_plain=np.ones(count, bool),
        feature_names=NAMES,
        unknown=np.array([0 if name.startswith(("epoch", "handover")) else np.nan for name in NAMES], np.float32),
        step_ends=np.array([1.0, 2.5]),
        groups=["a", "b", "c"],
        datasets=["one", "two"],
        is_left_out=np.zeros(count, bool),
        bins=bins,
        bins_every=every,
    )


class Moments(unittest.TestCase):
    def test_are_those_of_the_series_where_nothing_pauses(self):
        values = np.exp(np.random.default_rng(2).normal(0, 0.5, 90))
        series = {"values": values.tolist(), "group": "a", "dataset": "d", "epochSecond": 5}
        windows = windows_of([series], [1, 2], 20)
        count = len(windows.targets)
        features = np.zeros((count, len(NAMES)), np.float32)
        features[:, NAMES.index("observed")] = windows.moment[:, 0]
        features[:, NAMES.index("level-120s")] = windows.moment[:, 1]
        features[:, NAMES.index("epoch-phase-0") : -1] = hats_of(windows.epoch_second)
        features[:, -1] = 1
        seen = windows.history[..., 1] > 0
        bins = np.stack([windows.history[..., 0], np.broadcast_to(np.arange(LAGS)[::-1], (count, LAGS))], -1)
        bins[~seen] = np.nan
        rows = replace(made_up_rows(count), features=features, bins=bins.astype(np.float32))
        history, moment = SessionMoments(rows).inputs(np.arange(count))
        without_age = [i for i in range(len(CHANNELS)) if i != AGE]
        np.testing.assert_allclose(history[..., without_age], windows.history, atol=1e-4)
        np.testing.assert_allclose(history[-1, :, AGE], np.log1p(np.arange(LAGS)[::-1]) / 3, rtol=1e-6)
        np.testing.assert_allclose(moment[:, :2], windows.moment[:, :2])
        turn = 2 * np.pi * windows.epoch_second / 15
        np.testing.assert_allclose(moment[:, -2:], np.stack([np.sin(turn), np.cos(turn)], 1), atol=1e-5)

    def test_have_no_clock_where_no_handover_is_known(self):
        rows = made_up_rows()
        unknown = np.flatnonzero(rows.features[:, -1] == 0)
        history, moment = SessionMoments(rows).inputs(unknown)
        self.assertEqual(np.abs(history[..., LAYOUT.clock_channels]).max(), 0)
        self.assertEqual(np.abs(moment[:, LAYOUT.clock_features]).max(), 0)
        known = np.flatnonzero(rows.features[:, -1])
        self.assertGreater(SessionMoments(rows).inputs(known)[0][..., THIS_EPOCH].max(), 0)

    def test_of_rows_without_bins_are_refused(self):
        with self.assertRaisesRegex(ValueError, "expected bins"):
            SessionMoments(replace(made_up_rows(30), bins=None))
        with self.assertRaisesRegex(ValueError, r"bins of shape \(64, 2\), got \(32, 2\)"):
            SessionMoments(replace(made_up_rows(30), bins=np.zeros((30, 32, 2), np.float32)))


class Network(unittest.TestCase):
    def test_learns_what_only_the_bins_and_their_ages_tell(self):
        rows = made_up_rows()
        train, test = np.flatnonzero(rows.group != 2), np.flatnonzero(rows.group == 2)
        fitted = fit_session_temporal(rows, train, SETTINGS, seed=1)
        quantiles = fitted.quantiles(rows, test)
        self.assertTrue((np.diff(quantiles) >= 0).all())
        errors = np.abs(quantiles[..., 1] - rows.targets[test]).mean()
        self.assertLess(errors, 0.5 * np.abs(rows.targets[test]).mean())
        again = fit_session_temporal(rows, train, SETTINGS, seed=1)
        np.testing.assert_array_equal(again.quantiles(rows, test), quantiles)

    def test_its_file_has_the_weights_and_examples(self):
        rows = made_up_rows(300, every=3)
        binned = np.arange(0, 300, 3)
        fitted = fit_session_temporal(rows, binned, replace(SETTINGS, steps=3), seed=1)
        file = session_temporal_file(fitted, rows, "made up", 0.61234)
        self.assertEqual((file["rankCorrelation"], file["stepEndsSeconds"]), (0.612, [1, 2.5]))
        self.assertEqual(file["moment"], list(MOMENT_INPUTS))
        self.assertEqual((file["fit"]["rows"], file["fit"]["settings"]["steps"]), (100, 3))
        weights = np.frombuffer(base64.b64decode(file["networks"][1][4]["weights"]), "<f4")
        np.testing.assert_array_equal(weights.reshape(8, 6), fitted.network.members[1][8])
        self.assertEqual(len(file["golden"]), GOLDEN_ROWS)
        last = file["golden"][-1]
        np.testing.assert_allclose(last["features"], rows.features[297], atol=1e-6)
        np.testing.assert_allclose(last["ages"], rows.bins[99, :, 1][~np.isnan(rows.bins[99, :, 1])], atol=1e-6)
        np.testing.assert_allclose(last["logRatios"], fitted.quantiles(rows, np.array([297])).ravel(), atol=1e-6)


if __name__ == "__main__":
    unittest.main()
