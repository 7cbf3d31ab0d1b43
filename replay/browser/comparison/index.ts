/** What `scripts/compare-simulator-browser.js` needs. */
export { parseResults } from '../../evaluation/parse-results.ts';
export { readTraces } from '../../formats/trace-files.ts';
export { compareWithSimulator, measureBrowser } from './compare-sessions.ts';
export { parseRawSessions } from './raw-sessions.ts';
