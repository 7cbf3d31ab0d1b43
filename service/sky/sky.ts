/** The satellites in view of the dish. */

import { degreesToRadians, ecfToLookAngles, eciToEcf, gstime, propagate, radiansToDegrees } from 'satellite.js';
import { roundedDegrees } from '../api/security.ts';
import type { SatelliteInView, SkyReply } from '../api/wire.ts';
import type { Clock } from '../clock.ts';
import type { LocationReading } from '../dish/read-answers.ts';
import type { ElementSource } from './element-source.ts';
import type { Elements } from './elements.ts';

/** Terminals of Starlink use satellites above this elevation. */
const LEAST_SHOWN_DEGREES = 25;
const HOUR_MS = 3_600_000;
/** The view is computed this often: ten thousand satellites take 0.05 s on a PC, and longer on a small computer. */
const SHOWN_MS = 5000;

export class Sky {
  private _shown: SatelliteInView[] = [];
  private _shownMs = Number.NEGATIVE_INFINITY;

  /** `place` returns the location as the state shows it, because directions to satellites reveal the place. */
  constructor(
    private readonly _options: { source: ElementSource; place(): LocationReading | undefined; clock: Clock },
  ) {}

  reply(): SkyReply {
    const { source, place } = this._options;
    const { set } = source;
    if (set === undefined) return { state: 'no-elements', satellites: 0, inView: [] };
    const known = { satellites: set.length, elementsAgeHours: source.ageMs / HOUR_MS };
    const { fresh } = source;
    if (fresh.length === 0) return { state: 'elements-too-old', ...known, inView: [] };
    const from = place();
    if (from === undefined) return { state: 'no-location', ...known, inView: [] };
    return { state: 'running', ...known, inView: this._inView(fresh, from) };
  }

  private _inView(elements: readonly Elements[], from: LocationReading): SatelliteInView[] {
    const { clock } = this._options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this._shownMs >= SHOWN_MS) {
      this._shownMs = nowMs;
      this._shown = satellitesInView(elements, { utcMs: clock.utcMs(), from, leastDegrees: LEAST_SHOWN_DEGREES });
    }
    return this._shown;
  }
}

/** Lists the satellites above an elevation, highest first. */
export function satellitesInView(
  elements: readonly Elements[],
  { utcMs, from, leastDegrees }: { utcMs: number; from: LocationReading; leastDegrees: number },
): SatelliteInView[] {
  const date = new Date(utcMs);
  const siderealTime = gstime(date);
  const latitude = degreesToRadians(from.latitudeDegrees);
  const longitude = degreesToRadians(from.longitudeDegrees);
  const seen = elements.flatMap(({ name, orbit }) => {
    const at = propagate(orbit, date);
    if (at === null) return [];
    const angles = ecfToLookAngles({ latitude, longitude, height: 0 }, eciToEcf(at.position, siderealTime));
    const elevationDegrees = roundedDegrees(radiansToDegrees(angles.elevation));
    const azimuthDegrees = roundedDegrees((radiansToDegrees(angles.azimuth) + 360) % 360);
    return elevationDegrees >= leastDegrees ? [{ name, azimuthDegrees, elevationDegrees }] : [];
  });
  return seen.sort((a, b) => b.elevationDegrees - a.elevationDegrees);
}
