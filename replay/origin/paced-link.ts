/** A link in real time that reports at each tick the bytes that have arrived. Late ticks do not shift its time. */

import type { PiecewisePath } from '../../abr/index.ts';
import type { OtherTraffic } from '../households.ts';
import { type Chunk, ChunkedFlight } from '../link/chunked-flight.ts';
import { type Sender, SharedLink } from '../link/shared-link.ts';
import type { TimerClock } from './clock.ts';

/** The longest time between two deliveries of a transfer. */
export const TICK_MS = 4;

/** Wake this much after an event, so that rounding cannot put the event into the future. */
const ROUNDING_MS = 1e-6;

type OnDelivered = (bytes: number) => void;

interface Flow {
  flight: ChunkedFlight;
  access: Sender;
  onDelivered: OnDelivered;
  deliveredBytes: number;
  /** Second of the link at which the last byte was due; undefined before that second. */
  readonly prescribedEndSeconds: number | undefined;
  cancel(): void;
}

export class PacedLink {
  private readonly link = new SharedLink();
  private readonly path: PiecewisePath;
  private latestEndSeconds = 0;
  private readonly flows = new Set<Flow>();
  private startedAtMs: number | undefined;
  private wakeAtMs = Number.POSITIVE_INFINITY;
  private cancelTimer = () => {};
  private readonly onStarts: (() => void)[] = [];

  /** `path` begins at the link's second 0; `latencySeconds` is the RTT of each request. */
  constructor(
    private readonly clock: TimerClock,
    path: PiecewisePath,
    private readonly latencySeconds: number,
  ) {
    this.path = path.from(0, 0);
  }

  /** Makes now the link's second 0; a second call does nothing. */
  start(): void {
    if (this.isStarted) return;
    this.startedAtMs = this.clock.nowMs();
    for (const callback of this.onStarts) callback();
  }

  /** Calls back at the link's second 0, unless the link has started. */
  onStart(callback: () => void): void {
    this.onStarts.push(callback);
  }

  get isStarted(): boolean {
    return this.startedAtMs !== undefined;
  }

  /** Seconds since the start; 0 before. */
  get nowSeconds(): number {
    return this.startedAtMs === undefined ? 0 : (this.clock.nowMs() - this.startedAtMs) / 1000;
  }

  /** Adds downloads that take their share of the link and that nobody reads. Call it before the start. */
  addTraffic(traffic: readonly OtherTraffic[]): void {
    for (const one of traffic) this.link.addTraffic(this.path, one);
  }

  /** Delivered bits / the link's bits, until a request last ended. */
  get utilisation(): number {
    return this.link.utilisation(this.path, this.latestEndSeconds);
  }

  /** A chunk's bytes arrive only once the chunk exists. Before the link's start a request takes only the latency. */
  request(
    bytes: number,
    onDelivered: OnDelivered,
    chunks: readonly Chunk[] = [{ existsAtSeconds: 0, bits: 8 * bytes }],
  ): Pick<Flow, 'prescribedEndSeconds' | 'cancel'> {
    const { link, latencySeconds } = this;
    if (!this.isStarted) {
      const cancel = this.clock.schedule(() => onDelivered(bytes), latencySeconds * 1000);
      return { prescribedEndSeconds: undefined, cancel };
    }
    this.tick();
    const access = link.access();
    const requestedAtSeconds = link.nowSeconds;
    const request = { requestedAtSeconds, rttSeconds: latencySeconds, sizeBits: bytes * 8, chunks };
    const flight = new ChunkedFlight(access.shareOf(this.path), request);
    access.begin(flight);
    const flow: Flow = {
      ...{ flight, access, onDelivered, deliveredBytes: 0 },
      get prescribedEndSeconds() {
        return flight.endsAtSeconds <= link.nowSeconds ? flight.endsAtSeconds : undefined;
      },
      cancel: () => {
        if (!this.flows.delete(flow)) return;
        this.tick();
        this.end(flow);
      },
    };
    this.flows.add(flow);
    this.scheduleTick();
    return flow;
  }

  tick(): void {
    const { link } = this;
    link.advanceTo(this.nowSeconds);
    for (const flow of [...this.flows]) {
      const { flight } = flow;
      const ended = flow.prescribedEndSeconds !== undefined;
      if (ended && this.flows.delete(flow)) this.end(flow);
      // The last byte arrives at the end only, so that rounding cannot complete a transfer early.
      const lastByte = flight.sizeBits / 8 - 1;
      const bytes = ended ? lastByte + 1 : Math.min(Math.floor(flight.receivedBits(link.nowSeconds) / 8), lastByte);
      if (bytes === flow.deliveredBytes) continue;
      flow.deliveredBytes = bytes;
      flow.onDelivered(bytes);
    }
    this.scheduleTick();
  }

  private end({ flight, access }: Flow): void {
    this.latestEndSeconds = Math.max(this.latestEndSeconds, Math.min(flight.endsAtSeconds, this.link.nowSeconds));
    access.end(this.link.nowSeconds);
  }

  private scheduleTick(): void {
    if (this.flows.size === 0 || this.startedAtMs === undefined) return;
    const eventAtMs = this.startedAtMs + this.link.nextChangeSeconds() * 1000 + ROUNDING_MS;
    const nowMs = this.clock.nowMs();
    const atMs = Math.min(eventAtMs, nowMs + TICK_MS);
    if (atMs >= this.wakeAtMs) return;
    this.cancelTimer();
    this.wakeAtMs = atMs;
    const wake = () => {
      this.wakeAtMs = Number.POSITIVE_INFINITY;
      this.tick();
    };
    this.cancelTimer = this.clock.schedule(wake, Math.max(0, atMs - nowMs));
  }
}
