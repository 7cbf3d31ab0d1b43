/** Traces and everything that replays them. */
export * from './random.ts';
export * from './results.ts';
export * from './scenarios.ts';
export * from './trace.ts';
