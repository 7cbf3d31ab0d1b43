/**
 * A session's link in real time: tells each transfer, tick by tick, how many of its bytes are here by now. The exact
 * arithmetic is `SharedLink`'s; a late tick delivers late, but never moves the link's own time.
 */

import type { PiecewisePath } from '../../abr/index.ts';
import type { Clock } from './clock.ts';
import { type LinkTransfer, SharedLink } from './shared-link.ts';

/** Bytes are released at least so often while there is a transfer. */
export const TICK_MS = 4;

export interface PacedTransfer {
  /** All bytes from the first to this number are here; `ended` with the last. */
  onDelivered(bytes: number, ended: boolean): void;
}

/** A transfer under way. */
export interface PacedHandle {
  /** Second of the link at which its last byte came by the link's arithmetic; undefined before. */
  readonly prescribedEndSeconds: number | undefined;
  /** Gives its share up at once. */
  cancel(): void;
}

interface Flow extends PacedHandle {
  transfer: LinkTransfer;
  receiver: PacedTransfer;
  deliveredBytes: number;
}

/** Ticks all links of an origin with one timer, which runs only while there is something to deliver. */
export class Ticker {
  readonly clock: Clock;
  private readonly busy = new Set<PacedLink>();
  private wakeAtMs = Number.POSITIVE_INFINITY;
  private callOff = () => {};

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Sees to it that the link is ticked at `atMs` at the latest. */
  wake(link: PacedLink, atMs: number): void {
    this.busy.add(link);
    if (atMs >= this.wakeAtMs) return;
    this.callOff();
    this.wakeAtMs = atMs;
    this.callOff = this.clock.schedule(() => this.tick(), Math.max(0, atMs - this.clock.nowMs()));
  }

  private tick(): void {
    this.wakeAtMs = Number.POSITIVE_INFINITY;
    const links = [...this.busy];
    this.busy.clear();
    for (const link of links) link.tick();
  }
}

export class PacedLink {
  private readonly ticker: Ticker;
  private readonly link: SharedLink;
  private readonly latencySeconds: number;
  private readonly flows = new Set<Flow>();
  private startedAtMs: number | undefined;

  /** `path` counts from the session's second 0; `latencySeconds` is the RTT that each request costs. */
  constructor(ticker: Ticker, path: PiecewisePath, latencySeconds: number) {
    this.ticker = ticker;
    this.link = new SharedLink(path);
    this.latencySeconds = latencySeconds;
  }

  /** The link's second 0 is now, unless it was before. */
  start(): void {
    this.startedAtMs ??= this.ticker.clock.nowMs();
  }

  get isStarted(): boolean {
    return this.startedAtMs !== undefined;
  }

  /** Seconds since the start; 0 before. */
  get nowSeconds(): number {
    return this.startedAtMs === undefined ? 0 : (this.ticker.clock.nowMs() - this.startedAtMs) / 1000;
  }

  /** Requests `bytes` > 0 now: they begin to come one latency later. The link must have been started. */
  request(bytes: number, receiver: PacedTransfer): PacedHandle {
    this.tick();
    const transfer = this.link.add(bytes * 8, this.link.nowSeconds + this.latencySeconds);
    const flow: Flow = {
      transfer,
      receiver,
      deliveredBytes: 0,
      get prescribedEndSeconds() {
        return transfer.endedAtSeconds;
      },
      cancel: () => {
        if (!this.flows.delete(flow)) return;
        this.tick();
        this.link.remove(transfer);
      },
    };
    this.flows.add(flow);
    this.scheduleTick();
    return flow;
  }

  /** Delivers what is due by now. */
  tick(): void {
    this.link.advanceTo(this.nowSeconds);
    for (const flow of [...this.flows]) {
      const { deliveredBits, endedAtSeconds, sizeBits } = flow.transfer;
      const ended = endedAtSeconds !== undefined;
      // The last byte comes with the end alone, so that rounding never completes a transfer early.
      const bytes = ended ? sizeBits / 8 : Math.min(Math.floor(deliveredBits / 8), sizeBits / 8 - 1);
      if (ended) this.flows.delete(flow);
      if (bytes === flow.deliveredBytes) continue;
      flow.deliveredBytes = bytes;
      flow.receiver.onDelivered(bytes, ended);
    }
    this.scheduleTick();
  }

  private scheduleTick(): void {
    if (this.flows.size === 0 || this.startedAtMs === undefined) return;
    const eventAtMs = this.startedAtMs + this.link.nextEventSeconds() * 1000;
    this.ticker.wake(this, Math.min(eventAtMs, this.ticker.clock.nowMs() + TICK_MS));
  }
}
