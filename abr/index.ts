/** The controller. Pure: no DOM, no Node, no dash.js, no clock of its own. */
export * from './capacity-path.ts';
export * from './controller.ts';
export * from './forecast.ts';
export * from './qoe.ts';
