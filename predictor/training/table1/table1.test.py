"""`python predictor/training/table1/table1.test.py`, in the environment of `leo-abr train`."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

from series import HISTORY_SECONDS, read_series, run


class Table1(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def put(self, name: str, rates: list, step: float = 1.0) -> Path:
        file = self.folder / f"{name}.csv"
        rows = [f"{i * step:g},{rate},{2 * i}\n" for i, rate in enumerate(rates)]
        file.write_text("time_s,throughput_mbps,rtt_ms\n" + "".join(rows), encoding="utf-8")
        about = {"dataset": "own", "recording_group": name, "epoch_phase_s": 3}
        file.with_suffix(".json").write_text(json.dumps(about), encoding="utf-8")
        return file

    def test_series_are_means_of_seconds_and_end_at_holes(self):
        (one,) = read_series(self.put("a", [1, 3] * 50, step=0.5), "throughput_mbps")
        self.assertEqual((one.dataset, one.group, one.epoch_second), ("own", "a", 3))
        self.assertEqual(one.values.tolist(), [2.0] * 50)
        holed = self.put("b", [1.0] * 50 + [""] + [2.0] * 50 + [""] + [3.0] * 20)
        parts = read_series(holed, "throughput_mbps")
        self.assertEqual([(len(part.values), part.epoch_second) for part in parts], [(50, 3), (50, 54)])
        self.assertEqual([set(part.values) for part in parts], [{1.0}, {2.0}])

    def test_a_lost_ping_repeats_the_one_before(self):
        file = self.put("a", [1.0] * 50)
        file.write_text(file.read_text(encoding="utf-8").replace("30,1.0,60\n", ""), encoding="utf-8")
        (one,) = read_series(file, "rtt_ms")
        self.assertEqual(one.values[28:33].tolist(), [56, 58, 58, 62, 64])

    def test_scores_forecasts_on_groups_left_out(self):
        self.put("a", [10.0] * 44)
        self.put("b", [20.0] * 42 + [0.5, 22.0])
        groups = []

        def fit(train, seed):
            groups.append([one.group for one in train])
            return lambda one: np.full(len(one.values) - HISTORY_SECONDS, 21.0)

        with mock.patch("sys.argv", ["x", str(self.folder)]), contextlib.redirect_stdout(io.StringIO()) as out:
            run("Constant", fit)
        self.assertEqual(groups, [["b"], ["a"]])
        # 24 errors of 110 %, 22 of 5 %, 1 of 4.5 %; the second below 1 Mbit/s has no percentage.
        mape = (24 * 1.1 + 22 * 0.05 + 1 / 22) / 47
        rmse = np.sqrt((24 * 11**2 + 22 + 20.5**2 + 1) / 48)
        self.assertIn(f"| own | Constant | 48 | {100 * mape:.1f} % | {rmse:.2f} |", out.getvalue())
        self.assertIn("| pooled | last value | 48 | ", out.getvalue())


if __name__ == "__main__":
    unittest.main()
