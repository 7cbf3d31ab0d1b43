/** Computes the directions to all satellites with SGP4 in WebAssembly. */

import {
  BulkPropagator,
  createSingleThreadRuntime,
  EcfPositionCalculator,
  EciBaseCalculator,
  GmstCalculator,
  LookAnglesCalculator,
  type SatRec,
  twoline2satrec,
} from 'satellite.js';
import type { SatelliteInView } from '../api/wire.ts';
import type { LocationReading } from '../dish/read-answers.ts';
import type { Elements } from './elements.ts';

const DEGREES = Math.PI / 180;

export interface SkyView {
  /** Satellites with elements that SGP4 accepts. */
  readonly size: number;
  /** Highest first. */
  inView(utcMs: number, from: LocationReading, minElevationDegrees: number): SatelliteInView[];
  /** Frees the memory; do not use the view afterwards. */
  dispose(): void;
}

/** One per process: ending it would end the process (Emscripten's `exit`). */
let runtime: ReturnType<typeof createSingleThreadRuntime> | undefined;

/** Omits elements that SGP4 rejects. */
export async function createSkyView(elements: readonly Elements[]): Promise<SkyView> {
  const names: string[] = [];
  const records: SatRec[] = [];
  for (const { name, line1, line2 } of elements) {
    const record = twoline2satrec(line1, line2);
    if (record.error !== 0) continue;
    names.push(name);
    records.push(record);
  }
  runtime ??= createSingleThreadRuntime();
  const propagator = new BulkPropagator({
    runtime: await runtime,
    calculators: [
      new EciBaseCalculator(),
      new GmstCalculator(),
      new EcfPositionCalculator(),
      new LookAnglesCalculator(),
    ],
    satRecsCount: Math.max(1, records.length),
    datesCount: 1,
  });
  propagator.setSatRecs(records);
  return {
    size: records.length,
    inView(utcMs, { latitudeDegrees, longitudeDegrees, altitudeMetres }, minElevationDegrees) {
      if (records.length === 0) return [];
      const observer = {
        latitude: latitudeDegrees * DEGREES,
        longitude: longitudeDegrees * DEGREES,
        height: altitudeMetres / 1000,
      };
      propagator.setDates([new Date(utcMs)]);
      propagator.run({ lookAngles: { observer } });
      // Azimuth, elevation and distance of each satellite.
      const angles = propagator.getRawOutput().lookAngles;
      const least = minElevationDegrees * DEGREES;
      const found: SatelliteInView[] = [];
      for (let i = 0; i < records.length; i++) {
        const elevation = angles[3 * i + 1]!;
        // NaN for decayed satellites.
        if (!(elevation >= least) || !Number.isFinite(angles[3 * i]!)) continue;
        found.push({
          name: names[i]!,
          azimuthDegrees: (angles[3 * i]! / DEGREES + 360) % 360,
          elevationDegrees: elevation / DEGREES,
        });
      }
      return found.sort((a, b) => b.elevationDegrees - a.elevationDegrees);
    },
    dispose: () => propagator.dispose(),
  };
}
