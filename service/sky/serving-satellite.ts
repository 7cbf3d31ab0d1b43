/**
 * Identifies the serving satellite. The dish does not report it, but paints its obstruction map where it looks: the
 * pixels that change within an epoch are the satellite's track across the sky.
 */

import { EPOCH_SECONDS } from '../../abr/forecast.ts';
import type { SatelliteInView } from '../api/wire.ts';
import { angleBetween, type Direction, directionOf, type ObstructionMap } from '../dish/obstruction-map.ts';

export interface ServingSatellite {
  name: string;
  /** Probability that this satellite serves, 0 to 1. */
  confidence: number;
  /** Start of the track's epoch, UTC in ms. */
  epochStartMs: number;
}

/** Standard deviation of a painted direction: a pixel is 1.3 degrees wide and up to a second old. */
const SPREAD_DEGREES = 1.2;
/** Deviation that is assumed of a satellite without elements. */
const NONE_DEGREES = 3.5 * SPREAD_DEGREES;
/** Most points that count as independent, because the points of a track share their errors. */
const MOST_INDEPENDENT = 6;
const LEAST_POINTS = 3;
/** More new pixels than this are a new map, not a track. */
const MOST_NEW_PIXELS = 60;
/** At the start of an epoch, pixels of the previous satellite are still painted. */
const SETTLE_MS = 1200;
/** Smallest elevation of candidates. */
export const LEAST_CANDIDATE_DEGREES = 15;
const EPOCH_MS = EPOCH_SECONDS * 1000;

interface Point {
  direction: Direction;
  /** Directions of the candidates at that moment, by name. */
  sky: ReadonlyMap<string, Direction>;
}

export class ServingSatelliteFinder {
  #map: ObstructionMap | undefined;
  #epochStartMs = Number.NaN;
  #points: Point[] = [];

  /**
   * Observes the map at `atMs`, at least once a second, with the satellites above `LEAST_CANDIDATE_DEGREES`.
   * `handoverMs`: the time of any handover. Undefined until the epoch's track has enough points.
   */
  observe(observed: {
    map: ObstructionMap;
    atMs: number;
    handoverMs: number;
    satellites: readonly SatelliteInView[];
  }): ServingSatellite | undefined {
    const { map, atMs, handoverMs, satellites } = observed;
    const epochStartMs = handoverMs + Math.floor((atMs - handoverMs) / EPOCH_MS) * EPOCH_MS;
    if (epochStartMs !== this.#epochStartMs) {
      this.#epochStartMs = epochStartMs;
      this.#points = [];
    }
    const before = this.#map;
    this.#map = map;
    if (before === undefined || before.rows !== map.rows) return undefined;
    const pixel = newlyPainted(before, map);
    if (pixel !== undefined && atMs - epochStartMs >= SETTLE_MS) {
      const direction = directionOf(map, pixel);
      if (direction !== undefined) {
        this.#points.push({ direction, sky: new Map(satellites.map((satellite) => [satellite.name, satellite])) });
      }
    }
    return this.#points.length < LEAST_POINTS ? undefined : this.#best();
  }

  #best(): ServingSatellite | undefined {
    const independent = Math.min(MOST_INDEPENDENT, this.#points.length);
    const likelihood = (offDegrees: number) => Math.exp(-0.5 * independent * (offDegrees / SPREAD_DEGREES) ** 2);
    const names = [...this.#points[0]!.sky.keys()];
    const rated = names.map((name) => ({ name, likelihood: likelihood(this.#offDegrees(name)) }));
    const total = rated.reduce((sum, one) => sum + one.likelihood, likelihood(NONE_DEGREES));
    const [best] = rated.sort((a, b) => b.likelihood - a.likelihood);
    if (best === undefined || best.likelihood === 0) return undefined;
    return { name: best.name, confidence: best.likelihood / total, epochStartMs: this.#epochStartMs };
  }

  /** Root mean square angle between the painted track and a satellite's. */
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

/** The mean position of newly painted pixels; undefined if there are none or too many. */
function newlyPainted(before: ObstructionMap, map: ObstructionMap): { row: number; column: number } | undefined {
  let [count, rows, columns] = [0, 0, 0];
  for (let i = 0; i < map.snr.length; i++) {
    if (!(map.snr[i]! > 0 && map.snr[i]! !== before.snr[i]!)) continue;
    count++;
    rows += Math.floor(i / map.columns);
    columns += i % map.columns;
  }
  return count === 0 || count > MOST_NEW_PIXELS ? undefined : { row: rows / count, column: columns / count };
}
