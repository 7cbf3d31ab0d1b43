/** The controllers. Pure: no DOM, no Node, no dash.js, no clock of their own. */
export * from './algorithms.ts';
export * from './bola.ts';
export * from './capacity-path.ts';
export * from './controller.ts';
export * from './errors.ts';
export * from './ewma-throughput.ts';
export * from './forecast.ts';
export * from './mpc-d.ts';
export * from './mpc-l/live/live-mpc-l.ts';
export * from './mpc-l/mpc-l.ts';
export * from './mpc-o.ts';
export * from './off-rate.ts';
export * from './planner.ts';
export * from './qoe.ts';
export * from './robust-throughput.ts';
export * from './throughput.ts';
export * from './valid-forecast.ts';
