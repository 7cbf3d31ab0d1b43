import { type BrowserModel, MEASURED_BROWSER } from './scenarios.ts';

/** The textbook player: every delay is 0. */
export const IDEAL_BROWSER = Object.fromEntries(Object.keys(MEASURED_BROWSER).map((name) => [name, 0])) as {
  [Delay in keyof BrowserModel]: number;
};
