/** A link between origin and browser that another component emulates; the origin then delivers at once. */

import type { Server } from 'node:net';
import type { PlannedSession } from '../evaluation/plan/plan.ts';
import type { ResolvedScenario } from '../results.ts';

/** Counts since the previous query. The full queue drops packets; chance loses packets. */
export type LinkStatistics = Record<'packets' | 'bytes' | 'dropped' | 'lost', number>;

export interface BrowserAccess {
  /** Without a trailing slash. */
  url: string;
  executablePath: string;
  args: string[];
}

/** A link carries one session or household at a time. */
export interface EmulatedLink {
  /** Protocol of the segments, as resource timing names it (ALPN). */
  readonly protocol: string;
  /** A listening socket for the origin. */
  listen(): Promise<Server>;
  /** Call it once per link, with the origin's URL and Chromium's executable. */
  access(url: string, executablePath: string): Promise<BrowserAccess>;
  /** Starts the session's trace, its household's other traffic and the statistics. */
  play(planned: PlannedSession, scenario: ResolvedScenario): void;
  /** Ends other traffic and removes the limits until the next `play`; the delay stays. */
  open(): void;
  statistics(): Promise<LinkStatistics>;
  close(): Promise<void>;
}
