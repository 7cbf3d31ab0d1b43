"""The rows that `leo-abr train` writes: features at a moment of a session, and the capacity after it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FORMAT = "leo-abr training rows"
VERSION = 1


@dataclass(frozen=True)
class Rows:
    """Rates are ln of the ratio to the moment's reference rate."""

    features: np.ndarray  # [row, feature] float32
    targets: np.ndarray  # [row, step] float32: mean capacity within the step; NaN after the recording's end
    group: np.ndarray  # [row] index into `groups`
    dataset: np.ndarray  # [row] index into `datasets`
    is_plain: np.ndarray  # [row] bool: of an original recording, not of a stretched one
    feature_names: list[str]
    step_ends: np.ndarray
    groups: list[str]
    datasets: list[str]
    is_left_out: np.ndarray  # [row] bool: of a data set that is only evaluated
    model_version: int  # of the model file to write

    def training(self, without_group: int | None) -> np.ndarray:
        """Indices of the training rows."""
        chosen = ~self.is_left_out
        if without_group is not None:
            chosen &= self.group != without_group
        return np.flatnonzero(chosen)


def read_rows(folder: Path) -> Rows:
    """Reads `rows.json` and `rows.f32`. Raises ValueError if they are invalid."""
    header_file = folder / "rows.json"
    header = json.loads(header_file.read_text(encoding="utf-8"))
    for field, expected in (("format", FORMAT), ("version", VERSION)):
        if header.get(field) != expected:
            raise ValueError(f"{header_file}: {field}: expected {expected!r}, got {header.get(field)!r}")
    features = header["features"]
    steps = header["stepEndsSeconds"]
    width = 3 + len(features) + len(steps)
    values = np.fromfile(folder / "rows.f32", dtype="<f4")
    if values.size != width * header["rows"]:
        raise ValueError(f"{folder / 'rows.f32'}: expected {header['rows']} rows of {width} numbers, got {values.size}")
    table = values.reshape(-1, width)
    dataset = table[:, 1].astype(int)
    left_out = [i for i, name in enumerate(header["datasets"]) if name in header["leftOut"]]
    inputs = table[:, 3 : 3 + len(features)]
    if not np.isfinite(inputs).all():
        raise ValueError(f"{folder / 'rows.f32'}: expected finite features, got others")
    return Rows(
        features=np.ascontiguousarray(inputs),
        targets=np.ascontiguousarray(table[:, 3 + len(features) :]),
        group=table[:, 0].astype(int),
        dataset=dataset,
        is_plain=table[:, 2] == 0,
        feature_names=[feature["name"] for feature in features],
        step_ends=np.array(steps, dtype=float),
        groups=header["groups"],
        datasets=header["datasets"],
        is_left_out=np.isin(dataset, left_out),
        model_version=header["modelVersion"],
    )
