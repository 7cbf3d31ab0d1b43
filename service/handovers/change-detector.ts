/** Detects evidence of handovers in the dish's telemetry: latency steps and bursts of lost pings. */

import { median } from '../../abr/quantile.ts';
import type { HandoverEvidence } from '../api/wire.ts';
import type { TelemetrySecond } from '../telemetry.ts';

/** Pings compared before and after a possible step. */
const BEFORE = 6;
const AFTER = 3;
/** Smallest step, in ms and in multiples of the spread (scaled MAD) of the pings before it. */
const LEAST_STEP_MS = 4;
const LEAST_SPREADS = 4;
/** Lower bound of the spread. */
const LEAST_SPREAD_MS = 1;
/** Shortest time between two steps, because one step shows in several windows. */
const APART_SECONDS = 5;
const LEAST_DROP_RATE = 0.1;
/** Evidence remembered. */
const KEPT = 20;

export class ChangeDetector {
  readonly #pings: { atSeconds: number; latencyMs: number }[] = [];
  #lastStepSeconds = Number.NEGATIVE_INFINITY;
  #isDropping = false;
  readonly #evidence: HandoverEvidence[] = [];

  /** Returns new evidence. `atSeconds`: end of the second on the session clock, ascending. */
  observe(second: TelemetrySecond, atSeconds: number): HandoverEvidence[] {
    const found: HandoverEvidence[] = [];
    const { atMs, latencyMs, dropRate } = second;
    const isDropping = dropRate !== undefined && dropRate >= LEAST_DROP_RATE;
    if (isDropping && !this.#isDropping) {
      const detail = `${Math.round(dropRate * 100)} % of the pings lost`;
      found.push({ atMs, kind: 'drops', confidence: Math.min(0.9, 0.4 + dropRate), detail });
    }
    this.#isDropping = isDropping;
    if (latencyMs !== undefined) {
      this.#pings.push({ atSeconds, latencyMs });
      if (this.#pings.length > BEFORE + AFTER) this.#pings.shift();
      const step = this.#step(atMs - atSeconds * 1000);
      if (step !== undefined) found.push(step);
    }
    for (const evidence of found) this.add(evidence);
    return found;
  }

  add(evidence: HandoverEvidence): void {
    this.#evidence.unshift({ ...evidence });
    if (this.#evidence.length > KEPT) this.#evidence.pop();
  }

  /** UTC has leapt. */
  leap(seconds: number): void {
    for (const evidence of this.#evidence) evidence.atMs = Math.round(evidence.atMs + seconds * 1000);
  }

  /** Newest first. */
  list(): HandoverEvidence[] {
    return [...this.#evidence];
  }

  /** `zeroMs`: UTC of second 0 of the session clock. */
  #step(zeroMs: number): HandoverEvidence | undefined {
    if (this.#pings.length < BEFORE + AFTER) return undefined;
    const before = this.#pings.slice(0, BEFORE).map((ping) => ping.latencyMs);
    const after = this.#pings.slice(BEFORE).map((ping) => ping.latencyMs);
    const { atSeconds } = this.#pings[BEFORE]!;
    const beforeMs = median(before);
    const spread = Math.max(LEAST_SPREAD_MS, 1.4826 * median(before.map((value) => Math.abs(value - beforeMs))));
    const stepMs = median(after) - beforeMs;
    const isStep = Math.abs(stepMs) >= LEAST_STEP_MS && Math.abs(stepMs) >= LEAST_SPREADS * spread;
    if (!isStep || atSeconds - this.#lastStepSeconds < APART_SECONDS) return undefined;
    this.#lastStepSeconds = atSeconds;
    const confidence = Math.min(0.95, 1 - Math.exp(-Math.abs(stepMs) / spread / 6));
    const detail = `latency from ${beforeMs.toFixed(1)} to ${median(after).toFixed(1)} ms`;
    return { atMs: Math.round(zeroMs + atSeconds * 1000), kind: 'latency-step', confidence, detail };
  }
}
