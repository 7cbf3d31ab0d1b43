"""What the sky adds to a moment, where somebody knows it: satellites in view, how the terminal is turned, where it stands.

Every part is optional, and a part that is not known is marked so: NaN for models that take it (trees), nought and a flag
for those that do not (networks). A page knows none of it; the service does, and so may one's own recordings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

# Satellites that are told apart, highest first; T3P has azimuth, elevation and distance of those in view.
SATELLITES = 3

# Fields and what they may be; names as in the service's answers.
SATELLITE_FIELDS = {"azimuthDegrees": (-360, 360), "elevationDegrees": (-90, 90), "distanceKm": (0, 1e5)}
BORESIGHT_FIELDS = {"azimuthDegrees": (-360, 360), "elevationDegrees": (-90, 90)}
LOCATION_FIELDS = {"latitudeDegrees": (-90, 90), "longitudeDegrees": (-180, 180), "altitudeMetres": (-1000, 20000)}
PARTS = ("satellites", "boresight", "location")

# Features by the part that they need; all of about one in size.
FEATURES_OF_SATELLITES = [
    "satellites-in-view",
    *(f"satellite-{i}-{of}" for i in range(SATELLITES) for of in ("azimuth-sin", "azimuth-cos", "elevation", "distance")),
]
FEATURES_OF_BORESIGHT = ["boresight-azimuth-sin", "boresight-azimuth-cos", "boresight-elevation"]
# Of a satellite and the boresight together.
FEATURES_OF_BOTH = ["least-angle-to-boresight"]
FEATURES_OF_LOCATION = ["latitude", "longitude-sin", "longitude-cos", "altitude"]
GEOMETRY_FEATURES = [*FEATURES_OF_SATELLITES, *FEATURES_OF_BORESIGHT, *FEATURES_OF_BOTH, *FEATURES_OF_LOCATION]


def geometry_features(second: Mapping | None, where: str = "geometry") -> np.ndarray:
    """`GEOMETRY_FEATURES` [feature] of one second, NaN where not known.

    `second`: None, or an object that has any of `satellites` (a list, empty where none is in view), `boresight` and
    `location` with the fields above; None for a part is as good as none. Raises ValueError for anything else.
    """
    parts = _checked(second, where)
    satellites, boresight, location = (parts[name] for name in PARTS)
    known: dict[str, float] = {}
    if satellites is not None:
        known["satellites-in-view"] = len(satellites) / 10
        highest = sorted(satellites, key=lambda one: -one["elevationDegrees"])[:SATELLITES]
        for i, one in enumerate(highest):
            azimuth = math.radians(one["azimuthDegrees"])
            known[f"satellite-{i}-azimuth-sin"] = math.sin(azimuth)
            known[f"satellite-{i}-azimuth-cos"] = math.cos(azimuth)
            known[f"satellite-{i}-elevation"] = one["elevationDegrees"] / 90
            known[f"satellite-{i}-distance"] = one["distanceKm"] / 1000
    if boresight is not None:
        azimuth = math.radians(boresight["azimuthDegrees"])
        known["boresight-azimuth-sin"] = math.sin(azimuth)
        known["boresight-azimuth-cos"] = math.cos(azimuth)
        known["boresight-elevation"] = boresight["elevationDegrees"] / 90
    if satellites and boresight is not None:
        known["least-angle-to-boresight"] = min(_angle_degrees(one, boresight) for one in satellites) / 90
    if location is not None:
        longitude = math.radians(location["longitudeDegrees"])
        known["latitude"] = location["latitudeDegrees"] / 90
        known["longitude-sin"] = math.sin(longitude)
        known["longitude-cos"] = math.cos(longitude)
        known["altitude"] = location["altitudeMetres"] / 1000
    return np.array([known.get(name, math.nan) for name in GEOMETRY_FEATURES], np.float32)


def marked(features: np.ndarray) -> np.ndarray:
    """For networks: features [row, feature] with nought for what is not known, then a flag for each: 1 where it is."""
    is_known = ~np.isnan(features)
    return np.concatenate([np.where(is_known, features, 0), is_known], 1, dtype=np.float32)


def _angle_degrees(one: Mapping, other: Mapping) -> float:
    """Between two directions."""
    first, second = math.radians(one["elevationDegrees"]), math.radians(other["elevationDegrees"])
    turn = math.radians(one["azimuthDegrees"] - other["azimuthDegrees"])
    cosine = math.sin(first) * math.sin(second) + math.cos(first) * math.cos(second) * math.cos(turn)
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine))))


def _checked(second: Mapping | None, where: str) -> dict:
    parts: dict = dict.fromkeys(PARTS)
    if second is None:
        return parts
    if not isinstance(second, Mapping):
        raise ValueError(f"{where}: expected an object or null, got {second!r}")
    for name, part in second.items():
        if name not in PARTS:
            raise ValueError(f"{where}: expected {', '.join(PARTS)}, got {name!r}")
        parts[name] = part
    if parts["satellites"] is not None:
        if not isinstance(parts["satellites"], list):
            raise ValueError(f"{where}.satellites: expected a list, got {parts['satellites']!r}")
        for i, one in enumerate(parts["satellites"]):
            _check_numbers(one, SATELLITE_FIELDS, f"{where}.satellites[{i}]")
    if parts["boresight"] is not None:
        _check_numbers(parts["boresight"], BORESIGHT_FIELDS, f"{where}.boresight")
    if parts["location"] is not None:
        _check_numbers(parts["location"], LOCATION_FIELDS, f"{where}.location")
    return parts


def _check_numbers(part: object, fields: dict[str, tuple[float, float]], where: str) -> None:
    if not isinstance(part, Mapping):
        raise ValueError(f"{where}: expected an object, got {part!r}")
    for name, (least, most) in fields.items():
        value = part.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
            raise ValueError(f"{where}.{name}: expected a number from {least:g} to {most:g}, got {value!r}")
