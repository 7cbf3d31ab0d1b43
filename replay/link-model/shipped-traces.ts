/** The synthetic traces that the package ships (replay/traces): their recipes. Browser-safe. */

import type { Trace } from '../trace.ts';
import { type Preset, synthesizeTrace } from './synthesize-trace.ts';

export interface ShippedTrace {
  name: string;
  preset: Preset;
  seed: number;
  durationSeconds: number;
}

/** Seeds were picked for the character that the name says; replay/traces/README.md has the figures. */
export const SHIPPED_TRACES: readonly ShippedTrace[] = [
  { name: 'stationary-calm', preset: 'stationary-calm', seed: 11, durationSeconds: 300 },
  { name: 'stationary-typical', preset: 'stationary-calm', seed: 6, durationSeconds: 600 },
  { name: 'stationary-hard', preset: 'stationary-hard', seed: 21, durationSeconds: 600 },
  { name: 'stationary-crowded', preset: 'stationary-hard', seed: 24, durationSeconds: 300 },
  { name: 'driving-motorway', preset: 'driving-motorway', seed: 5, durationSeconds: 300 },
  { name: 'driving-country', preset: 'driving-udp', seed: 10, durationSeconds: 300 },
  { name: 'driving-urban-blocked', preset: 'driving-udp', seed: 21, durationSeconds: 600 },
  { name: 'driving-slow', preset: 'driving-tcp', seed: 15, durationSeconds: 600 },
];

/** Draws all of them again, each the same as its file. */
export function synthesizeShippedTraces(): Trace[] {
  return SHIPPED_TRACES.map((recipe) => synthesizeTrace(recipe));
}
