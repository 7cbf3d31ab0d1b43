/** The synthetic traces that the package ships (replay/traces): their recipes. Browser-safe. */

import type { Trace } from '../trace.ts';
import { type SynthesizeOptions, synthesizeTrace } from './synthesize-trace.ts';

const LIVE = { durationSeconds: 240, stepSeconds: 0.1 };

/** Seeds were chosen so that each trace shows what its name says; replay/traces/README.md has the figures. */
export const SHIPPED_TRACES: readonly (SynthesizeOptions & { name: string })[] = [
  { name: 'stationary-calm', preset: 'stationary-calm', seed: 11, durationSeconds: 300 },
  { name: 'stationary-typical', preset: 'stationary-calm', seed: 6, durationSeconds: 600 },
  { name: 'stationary-hard', preset: 'stationary-hard', seed: 21, durationSeconds: 600 },
  { name: 'stationary-crowded', preset: 'stationary-hard', seed: 24, durationSeconds: 300 },
  { name: 'driving-motorway', preset: 'driving-motorway', seed: 5, durationSeconds: 300 },
  { name: 'driving-country', preset: 'driving-udp', seed: 10, durationSeconds: 300 },
  { name: 'driving-urban-blocked', preset: 'driving-udp', seed: 21, durationSeconds: 600 },
  { name: 'driving-slow', preset: 'driving-tcp', seed: 15, durationSeconds: 600 },
  { name: 'stationary-live-calm', preset: 'stationary-live', seed: 36, ...LIVE },
  { name: 'stationary-live-typical', preset: 'stationary-live', seed: 20, ...LIVE },
  { name: 'stationary-live-collapse', preset: 'stationary-live', seed: 31, ...LIVE },
  { name: 'stationary-live-handover', preset: 'stationary-live', seed: 110, ...LIVE },
  { name: 'inter-satellite-live-typical', preset: 'inter-satellite-live', seed: 12, ...LIVE },
];

export function synthesizeShippedTraces(): Trace[] {
  return SHIPPED_TRACES.map((recipe) => synthesizeTrace(recipe));
}
