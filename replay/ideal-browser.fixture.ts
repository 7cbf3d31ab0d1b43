import type { BrowserModel } from './scenarios.ts';

/** The textbook player, without delays. */
export const IDEAL_BROWSER: BrowserModel = {
  requestLatenessSeconds: 0,
  requestGapSeconds: 0,
  initSegmentBits: 0,
  stallLevelSeconds: 0,
  appendSeconds: 0,
  responseSeconds: 0,
  responseSecondsPerBit: 0,
};
