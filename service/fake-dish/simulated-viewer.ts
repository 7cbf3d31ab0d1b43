/**
 * A viewer of a video behind a simulated dish. It downloads segments over the simulated link, as fast as its capacity
 * allows and its buffer has room, so that a service without real players has something to forecast.
 */

import type { WireObservation } from '../api/wire.ts';
import { GONE_SECONDS, SIMULATED_VIEWER } from '../link/shared-link.ts';
import type { PredictionService } from '../prediction-service.ts';

type TimedObservation = Exclude<WireObservation, { kind: 'request-latency' }>;

const STEP_MS = 100;
/** A video of 16 Mbit/s in segments of 4 s, with a buffer of 30 s. */
const SEGMENT_SECONDS = 4;
const SEGMENT_BITS = 16e6 * SEGMENT_SECONDS;
const BUFFER_SECONDS = 30;
/** After a longer gap (the machine slept) it goes on without what it would have downloaded. */
const LONGEST_GAP_MS = 10_000;
/** As the plugin's client. */
const REPORT_MS = 500;
/** Kept for the dish's history. */
const KEPT_MS = 900_000;

export class SimulatedViewer {
  readonly #capacityBps: (atMs: number) => number;
  /** The dish's UTC up to which it has played. */
  #untilMs = Number.NaN;
  #bufferSeconds = 0;
  /** Of the segment that it downloads; 0: it waits for room in the buffer. */
  #missingBits = 0;
  readonly #observations: TimedObservation[] = [];
  /** By the end of the second. */
  readonly #bitsOfSecond = new Map<number, number>();
  /** Neither downloads nor plays. */
  isPaused = false;

  /** `capacityBps`: of the link, in UTC of the dish. */
  constructor(capacityBps: (atMs: number) => number) {
    this.#capacityBps = capacityBps;
  }

  /** Bits that it received in the second that ends at `atMs`, a multiple of 1000; 0 before its start. */
  bitsIn(atMs: number): number {
    if (this.#untilMs < atMs) this.#playUntil(atMs);
    return this.#bitsOfSecond.get(atMs) ?? 0;
  }

  /** Plays until `untilMs`, from the first call on. Returns what it has observed since the last one, oldest first. */
  take(untilMs: number): readonly TimedObservation[] {
    this.#playUntil(untilMs);
    return this.#observations.splice(0);
  }

  /** Whether it waits for the rest of a segment. */
  get isDownloading(): boolean {
    return this.#missingBits > 0;
  }

  #playUntil(untilMs: number): void {
    if (!(untilMs - this.#untilMs <= LONGEST_GAP_MS)) this.#untilMs = Math.ceil(untilMs / STEP_MS) * STEP_MS;
    for (; this.#untilMs + STEP_MS <= untilMs; this.#untilMs += STEP_MS) {
      if (!this.isPaused) this.#play(this.#untilMs);
    }
  }

  /** One step. */
  #play(startMs: number): void {
    const endMs = startMs + STEP_MS;
    this.#bufferSeconds = Math.max(0, this.#bufferSeconds - STEP_MS / 1000);
    const hasRoom = this.#bufferSeconds <= BUFFER_SECONDS - SEGMENT_SECONDS;
    if (this.#missingBits === 0 && hasRoom) this.#missingBits = SEGMENT_BITS;
    const possibleBits = (this.#capacityBps(startMs + STEP_MS / 2) * STEP_MS) / 1000;
    const bits = Math.min(this.#missingBits, possibleBits);
    const busyMs = this.#missingBits === 0 ? 0 : possibleBits === bits ? STEP_MS : STEP_MS * (bits / possibleBits);
    if (busyMs > 0) this.#observations.push({ kind: 'throughput', startMs, endMs: startMs + busyMs, bits });
    if (busyMs < STEP_MS) this.#observations.push({ kind: 'idle', startMs: startMs + busyMs, endMs });
    this.#missingBits -= bits;
    if (busyMs > 0 && this.#missingBits === 0) this.#bufferSeconds += SEGMENT_SECONDS;
    const secondMs = Math.ceil(endMs / 1000) * 1000;
    this.#bitsOfSecond.set(secondMs, (this.#bitsOfSecond.get(secondMs) ?? 0) + bits);
    this.#bitsOfSecond.delete(secondMs - KEPT_MS - 1000);
  }
}

/** Starts the viewer. It leaves the link to other players, whose forecasts would not count its part of the capacity. */
export function reportViewer(viewer: SimulatedViewer, service: PredictionService): { close(): void } {
  const { clock, session } = service;
  // The clock of the simulated dish does not follow leaps of UTC.
  const dishOffsetMs = clock.utcMs() - clock.monotonicMs();
  let othersSeconds = Number.NEGATIVE_INFINITY;
  service.listen({
    report({ player }) {
      if (player !== SIMULATED_VIEWER) othersSeconds = session.nowSeconds();
    },
  });
  const report = () => {
    const dishMs = clock.monotonicMs() + dishOffsetMs;
    const leapMs = clock.utcMs() - dishMs;
    const observations = viewer.take(dishMs).map((observation) => {
      return { ...observation, startMs: observation.startMs + leapMs, endMs: observation.endMs + leapMs };
    });
    viewer.isPaused = session.nowSeconds() - othersSeconds <= GONE_SECONDS;
    if (viewer.isPaused) return;
    service.observe({ player: SIMULATED_VIEWER, observations, isDownloading: viewer.isDownloading });
  };
  report();
  const timer = setInterval(report, REPORT_MS);
  return { close: () => clearInterval(timer) };
}
