/** Computes the directions to all satellites with SGP4 in WebAssembly. */

import {
  BulkPropagator,
  createSingleThreadRuntime,
  EcfPositionCalculator,
  EciBaseCalculator,
  GmstCalculator,
  LookAnglesCalculator,
} from 'satellite.js';
import type { SatelliteInView } from '../api/wire.ts';
import type { LocationReading } from '../dish/read-answers.ts';
import type { Elements } from './elements.ts';

export interface SkyView {
  readonly size: number;
  /** Highest first. */
  inView(utcMs: number, from: LocationReading, minElevationDegrees: number): SatelliteInView[];
  /** Frees the memory; do not use the view afterwards. */
  dispose(): void;
}

const DEGREES = Math.PI / 180;

/** One per process: ending it would end the process (Emscripten's `exit`). */
let runtime: ReturnType<typeof createSingleThreadRuntime> | undefined;

export async function createSkyView(elements: readonly Elements[]): Promise<SkyView> {
  runtime ??= createSingleThreadRuntime();
  const propagator = new BulkPropagator({
    runtime: await runtime,
    calculators: [
      new EciBaseCalculator(),
      new GmstCalculator(),
      new EcfPositionCalculator(),
      new LookAnglesCalculator(),
    ],
    satRecsCount: elements.length,
    datesCount: 1,
  });
  propagator.setSatRecs(elements.map(({ orbit }) => orbit));
  return {
    size: elements.length,
    inView(utcMs, { latitudeDegrees, longitudeDegrees }, minElevationDegrees) {
      const [latitude, longitude] = [latitudeDegrees * DEGREES, longitudeDegrees * DEGREES];
      propagator.setDates([new Date(utcMs)]);
      propagator.run({ lookAngles: { observer: { latitude, longitude, height: 0 } } });
      // Azimuth, elevation and distance of each satellite; NaN for decayed ones.
      const angles = propagator.getRawOutput().lookAngles;
      return elements
        .map(({ name }, i) => ({
          name,
          azimuthDegrees: (angles[3 * i]! / DEGREES + 360) % 360,
          elevationDegrees: angles[3 * i + 1]! / DEGREES,
        }))
        .filter((one) => one.elevationDegrees >= minElevationDegrees && Number.isFinite(one.azimuthDegrees))
        .sort((a, b) => b.elevationDegrees - a.elevationDegrees);
    },
    dispose: () => propagator.dispose(),
  };
}
