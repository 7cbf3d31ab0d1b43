/**
 * Which satellite serves: the dish does not say, but its obstruction map is painted where it looks. The pixels that change
 * within an epoch are a track across the sky, and the satellite that flies along it is the one.
 */

import { EPOCH_SECONDS } from '../../abr/forecast.ts';
import type { SatelliteInView } from '../api/wire.ts';
import {
  type Attitude,
  angleBetween,
  type Direction,
  directionOf,
  type ObstructionMap,
} from '../dish/obstruction-map.ts';

export interface ServingSatellite {
  name: string;
  /** Probability that it is this one, 0 to 1. */
  confidence: number;
  /** Root of the mean squared angle between its track and the painted one, in degrees. */
  offDegrees: number;
  /** UTC in ms of the beginning of the epoch that the track was taken in. */
  epochStartMs: number;
}

/** A pixel is 1.3 degrees wide, and is painted within the second before it is seen. */
const SPREAD_DEGREES = 1.2;
/** A track so far off every satellite is of none that there are elements for. */
const NONE_DEGREES = 3.5 * SPREAD_DEGREES;
/** Pixels of a track lie on one line and share their errors: no more of them count as independent. */
const MOST_INDEPENDENT = 6;
const LEAST_POINTS = 3;
/** More pixels than this at once are a new map, not a track. */
const MOST_NEW_PIXELS = 60;
/** In the first moments of an epoch pixels of the one before still come. */
const SETTLE_MS = 1200;
/** Candidates have to be above this. */
export const LEAST_CANDIDATE_DEGREES = 15;
const EPOCH_MS = EPOCH_SECONDS * 1000;

interface Point {
  direction: Direction;
  /** Direction by name at that moment. */
  sky: ReadonlyMap<string, Direction>;
}

export class ServingSatelliteFinder {
  #map: ObstructionMap | undefined;
  #epochStartMs = Number.NaN;
  #points: Point[] = [];

  /**
   * A map as it was at `atMs`, once a second or more often, with the satellites above `LEAST_CANDIDATE_DEGREES` at that
   * moment. `handoverMs`: any one handover. Undefined while nothing can be said of this epoch.
   */
  observe(observed: {
    map: ObstructionMap;
    atMs: number;
    handoverMs: number;
    satellites: readonly SatelliteInView[];
    attitude?: Attitude | undefined;
  }): ServingSatellite | undefined {
    const { map, atMs, handoverMs, satellites, attitude } = observed;
    const epochStartMs = handoverMs + Math.floor((atMs - handoverMs) / EPOCH_MS) * EPOCH_MS;
    if (epochStartMs !== this.#epochStartMs) {
      this.#epochStartMs = epochStartMs;
      this.#points = [];
    }
    const before = this.#map;
    this.#map = map;
    if (before === undefined || before.rows !== map.rows || before.frame !== map.frame) return undefined;
    const pixel = newlyPainted(before, map);
    if (pixel !== undefined && atMs - epochStartMs >= SETTLE_MS) {
      const direction = directionOf(map, pixel, attitude);
      if (direction !== undefined) {
        this.#points.push({ direction, sky: new Map(satellites.map((satellite) => [satellite.name, satellite])) });
      }
    }
    return this.#points.length < LEAST_POINTS ? undefined : this.#best();
  }

  #best(): ServingSatellite | undefined {
    const independent = Math.min(MOST_INDEPENDENT, this.#points.length);
    const weigh = (offDegrees: number) => Math.exp(-0.5 * independent * (offDegrees / SPREAD_DEGREES) ** 2);
    let best: { name: string; offDegrees: number } | undefined;
    let weights = weigh(NONE_DEGREES);
    for (const name of this.#points[0]!.sky.keys()) {
      const offDegrees = this.#offDegrees(name);
      weights += weigh(offDegrees);
      if (best === undefined || offDegrees < best.offDegrees) best = { name, offDegrees };
    }
    if (best === undefined) return undefined;
    const confidence = weigh(best.offDegrees) / weights;
    return confidence > 0 ? { ...best, confidence, epochStartMs: this.#epochStartMs } : undefined;
  }

  #offDegrees(name: string): number {
    let squares = 0;
    for (const { direction, sky } of this.#points) {
      const satellite = sky.get(name);
      if (satellite === undefined) return Number.POSITIVE_INFINITY;
      squares += angleBetween(direction, satellite) ** 2;
    }
    return Math.sqrt(squares / this.#points.length);
  }
}

/** The middle of the pixels that have come to be clear or obstructed; undefined where none have, or a map is new. */
function newlyPainted(before: ObstructionMap, map: ObstructionMap): { row: number; column: number } | undefined {
  let count = 0;
  let rows = 0;
  let columns = 0;
  for (let i = 0; i < map.snr.length; i++) {
    if (!(map.snr[i]! > 0 && map.snr[i]! !== before.snr[i]!)) continue;
    count++;
    rows += Math.floor(i / map.columns);
    columns += i % map.columns;
  }
  return count === 0 || count > MOST_NEW_PIXELS ? undefined : { row: rows / count, column: columns / count };
}
