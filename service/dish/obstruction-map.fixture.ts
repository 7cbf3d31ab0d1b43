/** Paints directions in the sky into obstruction maps. */

import {
  type Attitude,
  DEGREES,
  type Direction,
  type MapGeometry,
  type Pixel,
  rotated,
  vectorOf,
} from './obstruction-map.ts';

/** The inverse of `directionOf`; row and column are fractional. */
export function pixelOf(map: MapGeometry, direction: Direction, attitude?: Attitude): Pixel | undefined {
  let theta = 90 - direction.elevationDegrees;
  let up = Math.cos(direction.azimuthDegrees * DEGREES);
  let right = Math.sin(direction.azimuthDegrees * DEGREES);
  if (map.frame === 'terminal') {
    if (attitude === undefined) return undefined;
    const [east, north, above] = vectorOf(direction);
    const [w, x, y, z] = attitude;
    const [along, across, axis] = rotated([north, east, -above], [w, -x, -y, -z]);
    theta = Math.acos(Math.min(1, Math.max(-1, axis))) / DEGREES;
    const length = Math.hypot(along, across) || 1;
    up = across / length;
    right = -along / length;
  }
  if (!(theta <= map.maxThetaDegrees)) return undefined;
  const radius = (theta / map.maxThetaDegrees) * (map.columns / 2);
  return { row: (map.rows - 1) / 2 - radius * up, column: (map.columns - 1) / 2 + radius * right };
}
