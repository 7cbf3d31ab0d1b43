/** What `scripts/compare-simulator-browser.js` and `scripts/compare-contexts.js` need. */
export { parseResults } from '../../evaluation/parse-results.ts';
export { sessionKey } from '../../evaluation/plan.ts';
export { tierAgreement } from '../../evaluation/tier-agreement.ts';
export { readTraces } from '../../formats/trace-files.ts';
export { compareWithSimulator, measureBrowser } from './compare-sessions.ts';
export { parseRawSessions } from './raw-sessions.ts';
