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
  private readonly _link = new SharedLink();
  private readonly _path: PiecewisePath;
  private _latestEndSeconds = 0;
  private readonly _flows = new Set<Flow>();
  private _startedAtMs: number | undefined;
  private _wakeAtMs = Number.POSITIVE_INFINITY;
  private _cancelTimer = () => {};
  private readonly _onStarts: (() => void)[] = [];

  /** `path` begins at the link's second 0; `latencySeconds` is the RTT of each request. */
  constructor(
    private readonly _clock: TimerClock,
    path: PiecewisePath,
    private readonly _latencySeconds: number,
  ) {
    this._path = path.from(0, 0);
  }

  /** Makes now the link's second 0; a second call does nothing. */
  start(): void {
    if (this.isStarted) return;
    this._startedAtMs = this._clock.nowMs();
    for (const callback of this._onStarts) callback();
  }

  /** Calls back at the link's second 0, unless the link has started. */
  onStart(callback: () => void): void {
    this._onStarts.push(callback);
  }

  get isStarted(): boolean {
    return this._startedAtMs !== undefined;
  }

  /** Seconds since the start; 0 before. */
  get nowSeconds(): number {
    return this._startedAtMs === undefined ? 0 : (this._clock.nowMs() - this._startedAtMs) / 1000;
  }

  /** Adds downloads that take their share of the link and that nobody reads. Call it before the start. */
  addTraffic(traffic: readonly OtherTraffic[]): void {
    for (const one of traffic) this._link.addTraffic(this._path, one);
  }

  /** Delivered bits / the link's bits, until a request last ended. */
  get utilisation(): number {
    return this._link.utilisation(this._path, this._latestEndSeconds);
  }

  /** A chunk's bytes arrive only once the chunk exists. Before the link's start a request takes only the latency. */
  request(
    bytes: number,
    onDelivered: OnDelivered,
    chunks: readonly Chunk[] = [{ existsAtSeconds: 0, bits: 8 * bytes }],
  ): Pick<Flow, 'prescribedEndSeconds' | 'cancel'> {
    const { _link: link, _latencySeconds: latencySeconds } = this;
    if (!this.isStarted) {
      const cancel = this._clock.schedule(() => onDelivered(bytes), latencySeconds * 1000);
      return { prescribedEndSeconds: undefined, cancel };
    }
    this.tick();
    const access = link.access();
    const requestedAtSeconds = link.nowSeconds;
    const request = { requestedAtSeconds, rttSeconds: latencySeconds, sizeBits: bytes * 8, chunks };
    const flight = new ChunkedFlight(access.shareOf(this._path), request);
    access.begin(flight);
    const flow: Flow = {
      ...{ flight, access, onDelivered, deliveredBytes: 0 },
      get prescribedEndSeconds() {
        return flight.endsAtSeconds <= link.nowSeconds ? flight.endsAtSeconds : undefined;
      },
      cancel: () => {
        if (!this._flows.delete(flow)) return;
        this.tick();
        this._end(flow);
      },
    };
    this._flows.add(flow);
    this._scheduleTick();
    return flow;
  }

  tick(): void {
    const { _link: link } = this;
    link.advanceTo(this.nowSeconds);
    for (const flow of [...this._flows]) {
      const { flight } = flow;
      const ended = flow.prescribedEndSeconds !== undefined;
      if (ended && this._flows.delete(flow)) this._end(flow);
      // The last byte arrives at the end only, so that rounding cannot complete a transfer early.
      const lastByte = flight.sizeBits / 8 - 1;
      const bytes = ended ? lastByte + 1 : Math.min(Math.floor(flight.receivedBits(link.nowSeconds) / 8), lastByte);
      if (bytes === flow.deliveredBytes) continue;
      flow.deliveredBytes = bytes;
      flow.onDelivered(bytes);
    }
    this._scheduleTick();
  }

  private _end({ flight, access }: Flow): void {
    this._latestEndSeconds = Math.max(this._latestEndSeconds, Math.min(flight.endsAtSeconds, this._link.nowSeconds));
    access.end(this._link.nowSeconds);
  }

  private _scheduleTick(): void {
    if (this._flows.size === 0 || this._startedAtMs === undefined) return;
    const eventAtMs = this._startedAtMs + this._link.nextChangeSeconds() * 1000 + ROUNDING_MS;
    const nowMs = this._clock.nowMs();
    const atMs = Math.min(eventAtMs, nowMs + TICK_MS);
    if (atMs >= this._wakeAtMs) return;
    this._cancelTimer();
    this._wakeAtMs = atMs;
    const wake = () => {
      this._wakeAtMs = Number.POSITIVE_INFINITY;
      this.tick();
    };
    this._cancelTimer = this._clock.schedule(wake, Math.max(0, atMs - nowMs));
  }
}
