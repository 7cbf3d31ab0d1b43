/**
 * Maps pixels of the dish's obstruction map to directions in the sky. The map is a disk: the distance from
 * its centre is the angle from the zenith (frame "earth") or from the dish's axis (frame "terminal"), and half its
 * width is `maxThetaDegrees`.
 *
 * Frame "terminal" is verified against a recording with orbits (docs/findings.md): rows grow against the dish's y axis,
 * columns against its x axis, and the attitude rotates from the dish's frame to north, east, down. Frame "earth"
 * follows the publications on stationary dishes (north up, east right); no recording was available to verify it.
 */

export interface MapGeometry {
  rows: number;
  columns: number;
  maxThetaDegrees: number;
  /** `terminal`: relative to the dish, which may be tilted and turned. */
  frame: 'earth' | 'terminal';
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

/** The dish's attitude as a unit quaternion, scalar first. */
export type Attitude = readonly [w: number, x: number, y: number, z: number];

export interface Pixel {
  row: number;
  column: number;
}

export const DEGREES = Math.PI / 180;

/** Undefined outside the disk, or if the frame is "terminal" and the attitude unknown. */
export function directionOf(map: MapGeometry, pixel: Pixel, attitude?: Attitude): Direction | undefined {
  const up = (map.rows - 1) / 2 - pixel.row;
  const right = pixel.column - (map.columns - 1) / 2;
  const theta = (Math.hypot(up, right) / (map.columns / 2)) * map.maxThetaDegrees;
  if (!(theta <= map.maxThetaDegrees)) return undefined;
  if (map.frame === 'earth') {
    return { azimuthDegrees: turned(Math.atan2(right, up) / DEGREES), elevationDegrees: 90 - theta };
  }
  if (attitude === undefined) return undefined;
  const around = Math.atan2(up, -right);
  const sine = Math.sin(theta * DEGREES);
  const ofDish = [Math.cos(around) * sine, Math.sin(around) * sine, Math.cos(theta * DEGREES)] as const;
  const [north, east, down] = rotated(ofDish, attitude);
  return directionOfVector([east, north, -down]);
}

/** Angle between two directions, in degrees. */
export function angleBetween(a: Direction, b: Direction): number {
  const u = vectorOf(a);
  const v = vectorOf(b);
  return Math.acos(Math.min(1, Math.max(-1, u[0] * v[0] + u[1] * v[1] + u[2] * v[2]))) / DEGREES;
}

type Vector = readonly [number, number, number];

/** East, north, up. */
export function vectorOf({ azimuthDegrees, elevationDegrees }: Direction): Vector {
  const azimuth = azimuthDegrees * DEGREES;
  const elevation = elevationDegrees * DEGREES;
  return [Math.sin(azimuth) * Math.cos(elevation), Math.cos(azimuth) * Math.cos(elevation), Math.sin(elevation)];
}

function directionOfVector([east, north, up]: Vector): Direction {
  return {
    azimuthDegrees: turned(Math.atan2(east, north) / DEGREES),
    elevationDegrees: Math.asin(Math.min(1, Math.max(-1, up))) / DEGREES,
  };
}

export function rotated([a, b, c]: Vector, [w, x, y, z]: Attitude): Vector {
  return [
    (1 - 2 * (y * y + z * z)) * a + 2 * (x * y - w * z) * b + 2 * (x * z + w * y) * c,
    2 * (x * y + w * z) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z - w * x) * c,
    2 * (x * z - w * y) * a + 2 * (y * z + w * x) * b + (1 - 2 * (x * x + y * y)) * c,
  ];
}

function turned(degrees: number): number {
  return ((degrees % 360) + 360) % 360;
}
