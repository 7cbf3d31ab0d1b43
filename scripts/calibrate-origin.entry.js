/** What `calibrate-origin.js` needs of the sources. */
export { startOrigin } from '../replay/origin/index.ts';
export { SCENARIOS } from '../replay/scenarios.ts';
export { linkOf } from '../replay/simulator/session-setup.ts';
