/** What `calibrate-origin.js` needs of the sources. */
export { calibrationCases } from '../replay/browser/calibration.ts';
export { startOrigin } from '../replay/origin/index.ts';
export { linkOf } from '../replay/simulator/session-setup.ts';
