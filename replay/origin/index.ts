/** The paced origin: DASH over HTTP along a trace, in real time. Node only. */
export { type Clock, REAL_CLOCK } from './clock.ts';
export * from './origin.ts';
export type { RequestLogEntry } from './request-log.ts';
export { type PublishedLink, ReplaySession, type SessionSpec } from './session.ts';
