"""Geometry from a made-up minute of telemetry; no recording of a terminal is needed."""

import json
import unittest

import numpy as np
from leo_abr_training.geometry import GEOMETRY_FEATURES, geometry_features, marked
from leo_abr_training.windows import windows_of

# Lines as somebody's recorder may write them: what the service's answers have, the second line without the sky.
TELEMETRY = """\
{"satellites": [{"name": "A", "azimuthDegrees": 90, "elevationDegrees": 45, "distanceKm": 750}, \
{"name": "B", "azimuthDegrees": 0, "elevationDegrees": 80, "distanceKm": 560}], \
"boresight": {"azimuthDegrees": 0, "elevationDegrees": 70}, \
"location": {"latitudeDegrees": 45, "longitudeDegrees": -90, "altitudeMetres": 500}}
{"boresight": {"azimuthDegrees": 270, "elevationDegrees": 63}, "location": null}
null
{"satellites": []}"""
SECONDS = [json.loads(line) for line in TELEMETRY.split("\n")]


def named(second) -> dict[str, float]:
    return dict(zip(GEOMETRY_FEATURES, geometry_features(second).tolist(), strict=True))


class Geometry(unittest.TestCase):
    def test_of_a_second_that_has_it_all(self):
        features = named(SECONDS[0])
        expected = {
            "satellites-in-view": 0.2,
            # The highest first.
            "satellite-0-azimuth-sin": 0,
            "satellite-0-azimuth-cos": 1,
            "satellite-0-elevation": 80 / 90,
            "satellite-0-distance": 0.56,
            "satellite-1-azimuth-sin": 1,
            "boresight-elevation": 70 / 90,
            "least-angle-to-boresight": 10 / 90,
            "latitude": 0.5,
            "longitude-sin": -1,
            "altitude": 0.5,
        }
        for name, value in expected.items():
            self.assertAlmostEqual(features[name], value, places=5, msg=name)
        self.assertTrue(np.isnan(features["satellite-2-elevation"]))

    def test_what_is_missing_is_marked_missing(self):
        no_sky = named(SECONDS[1])
        for name, value in no_sky.items():
            self.assertEqual(np.isnan(value), not name.startswith("boresight"), name)
        self.assertTrue(all(np.isnan(list(named(SECONDS[2]).values()))))
        # None in view is something else than not known.
        empty = named(SECONDS[3])
        self.assertEqual(empty["satellites-in-view"], 0)
        self.assertTrue(np.isnan(empty["satellite-0-elevation"]))

        inputs = marked(np.stack([geometry_features(second) for second in SECONDS]))
        values, flags = np.split(inputs, 2, axis=1)
        self.assertTrue(np.isfinite(inputs).all())
        self.assertEqual(flags[2].sum(), 0)
        self.assertEqual(flags[1].sum(), 3)
        self.assertTrue((values[flags == 0] == 0).all())

    def test_says_what_is_wrong_and_where(self):
        satellite = {"azimuthDegrees": 10, "elevationDegrees": 95, "distanceKm": 600}
        for second, message in [
            ({"sun": {}}, "geometry: expected satellites, boresight, location, got 'sun'"),
            ({"satellites": [satellite]}, r"geometry.satellites\[0\].elevationDegrees: expected a number from -90 to 90, got 95"),
            ({"location": {"latitudeDegrees": 45}}, "geometry.location.longitudeDegrees: expected a number .* got None"),
            ([], "geometry: expected an object or null"),
        ]:
            with self.assertRaisesRegex(ValueError, message):
                geometry_features(second)

    def test_goes_with_the_moments_of_a_recording(self):
        series = {"values": [10.0] * 30, "group": "a", "dataset": "own", "epochSecond": None}
        geometry = [SECONDS[i % 4] for i in range(30)]
        windows = windows_of([{**series, "geometry": geometry}, series], [1, 2], first_second=20)
        # The moment at second 21 knows what was in second 20.
        np.testing.assert_array_equal(windows.geometry[1], geometry_features(SECONDS[0]))
        self.assertTrue(np.isnan(windows.geometry[10:]).all())
        np.testing.assert_array_equal(windows.moment[1, 2:], marked(windows.geometry[1:2])[0])
        with self.assertRaisesRegex(ValueError, "expected an entry for each of 30 values, got 3"):
            windows_of([{**series, "geometry": geometry[:3]}], [1, 2], first_second=20)


if __name__ == "__main__":
    unittest.main()
