/** Paints directions in the sky into obstruction maps. */

import { DEGREES, type Direction, type MapGeometry } from './obstruction-map.ts';

/** The inverse of `directionOf`; row and column are fractional. Undefined below the map. */
export function pixelOf(map: MapGeometry, direction: Direction): { row: number; column: number } | undefined {
  const theta = 90 - direction.elevationDegrees;
  if (!(theta <= map.maxThetaDegrees)) return undefined;
  const radius = (theta / map.maxThetaDegrees) * (map.columns / 2);
  const azimuth = direction.azimuthDegrees * DEGREES;
  return {
    row: (map.rows - 1) / 2 - radius * Math.cos(azimuth),
    column: (map.columns - 1) / 2 + radius * Math.sin(azimuth),
  };
}
