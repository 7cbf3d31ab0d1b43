/** Traces and everything that replays them. */
export * from './evaluation/index.ts';
export * from './oracle/oracle-forecaster.ts';
export * from './random.ts';
export * from './results.ts';
export * from './scenarios.ts';
export * from './simulator/session-result.ts';
export { linkOf, pageLinkOf, sizesOf } from './simulator/session-setup.ts';
export * from './simulator/simulate-session.ts';
export * from './trace.ts';
