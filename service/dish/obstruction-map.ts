/**
 * Maps pixels of a stationary dish's obstruction map to directions in the sky. The map is a disk with north up and east
 * right: the distance from its centre is the angle from the zenith, and half its width is `maxThetaDegrees`. This
 * follows publications; no recording was available to verify it.
 */

export interface MapGeometry {
  rows: number;
  columns: number;
  maxThetaDegrees: number;
}

export interface ObstructionMap extends MapGeometry {
  /** Row by row: -1 (in some firmware 0) unused, up to 1 clear. */
  snr: Float32Array;
}

export interface Direction {
  /** From north over east, 0 to below 360. */
  azimuthDegrees: number;
  /** Above the horizon. */
  elevationDegrees: number;
}

export const DEGREES = Math.PI / 180;

/** Undefined outside the disk. */
export function directionOf(map: MapGeometry, pixel: { row: number; column: number }): Direction | undefined {
  const up = (map.rows - 1) / 2 - pixel.row;
  const right = pixel.column - (map.columns - 1) / 2;
  const theta = (Math.hypot(up, right) / (map.columns / 2)) * map.maxThetaDegrees;
  if (theta > map.maxThetaDegrees) return undefined;
  return { azimuthDegrees: (Math.atan2(right, up) / DEGREES + 360) % 360, elevationDegrees: 90 - theta };
}

/** Angle between two directions, in degrees. */
export function angleBetween(a: Direction, b: Direction): number {
  const u = vectorOf(a);
  const v = vectorOf(b);
  return Math.acos(Math.min(1, Math.max(-1, u[0] * v[0] + u[1] * v[1] + u[2] * v[2]))) / DEGREES;
}

/** East, north, up. */
function vectorOf({ azimuthDegrees, elevationDegrees }: Direction): readonly [number, number, number] {
  const azimuth = azimuthDegrees * DEGREES;
  const elevation = elevationDegrees * DEGREES;
  return [Math.sin(azimuth) * Math.cos(elevation), Math.cos(azimuth) * Math.cos(elevation), Math.sin(elevation)];
}
