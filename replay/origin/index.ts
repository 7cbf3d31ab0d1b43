/** The paced origin: DASH over HTTP along a trace, in real time. Node only. */
export { type Clock, REAL_CLOCK } from './clock.ts';
export * from './origin.ts';
export type { PublishedLink } from './published-link.ts';
export type { ChunkLateness, RequestLogEntry } from './request-log.ts';
export { requestPath } from './request-path.ts';
export { ReplaySession, type SessionSpec } from './session.ts';
