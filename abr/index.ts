/** What other folders use of the controllers. */
export * from './controller.ts';
export * from './forecast.ts';
export * from './mpc/capacity-path.ts';
export * from './qoe/perceived-qoe.ts';
export * from './qoe/qoe.ts';
export * from './qoe/quality.ts';
export * from './qoe/session-qoe.ts';
