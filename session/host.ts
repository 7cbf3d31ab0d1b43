/** What a session needs of the place where it runs: a page (`src/page-host.ts`), or the simulator. */

import type { SessionContext } from '../abr/forecast.ts';

/** Who answered a request; undefined while the browser has not told. */
export type ResponseSource = 'cache' | 'network' | 'unknown' | undefined;

export interface ResponseWatch {
  /** Who sent a body of this size that was requested since. */
  sourceOf(sinceMs: number, bytes: number): ResponseSource;
  stop(): void;
}

/** Times are in milliseconds. */
export interface Host {
  /** A monotonic clock. */
  nowMs(): number;
  /** The device's UTC. */
  utcMs(): number;
  /** Calls `action` in this period; returns a function that ends the calls. */
  every(periodMs: number, action: () => void): () => void;
  /** Calls `action` once the present event has been handled. */
  soon(action: () => void): void;
  /** The viewer has asked for less data. */
  savesData(): boolean;
  /** Nobody sees the page, so its timers are slow. */
  isHidden(): boolean;
  /** Keeps text from one session to the next; undefined without storage. It may throw if storage is blocked. */
  storage(): Pick<Storage, 'getItem' | 'setItem'> | undefined;
  fetch(url: string | URL): Promise<Response>;
  /** Absolute form of an URL that the player names. */
  absoluteUrl(url: string): URL;
  /** Throughput in bit/s as the browser estimates it; undefined if it does not. */
  linkBps(): number | undefined;
  /** What the page has loaded recently. */
  pageLoad(): SessionContext['pageLoad'];
  /** Watches the page's responses; undefined if nothing tells where they come from. */
  watchResponses(): ResponseWatch | undefined;
  /** For faults, and for the lines of the option `debug`. */
  console: Pick<Console, 'warn' | 'debug'>;
}
