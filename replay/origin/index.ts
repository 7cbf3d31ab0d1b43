/** The paced origin in Node: DASH and HLS over HTTP along a trace, in real time. Browser code imports `origin.ts`. */
export { REAL_CLOCK, type TimerClock } from './clock.ts';
export { type RunningOrigin, type ServerOptions, startOrigin } from './node/server.ts';
export { staticSite } from './node/static-site.ts';
export type { PublishedLink } from './published-link.ts';
export { ReplaySession, type RequestLogEntry, type SessionSpec } from './session.ts';
