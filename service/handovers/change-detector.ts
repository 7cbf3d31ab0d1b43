/** Changes of a link that handovers show in, from the dish's seconds: steps of the latency and bursts of lost pings. */

import type { HandoverEvidence } from '../api/wire.ts';
import type { TelemetrySecond } from '../telemetry.ts';

/** Pings before and after a moment that are compared. */
const BEFORE = 6;
const AFTER = 3;
/** A step is at least so large, in ms and in spreads of the pings before. */
const LEAST_STEP_MS = 4;
const LEAST_SPREADS = 4;
/** The spread counts no smaller. */
const LEAST_SPREAD_MS = 1;
/** Two steps are at least so far apart: the pings around one show it several times. */
const APART_SECONDS = 5;
const LEAST_DROP_RATE = 0.1;
/** Evidence remembered. */
const KEPT = 20;

export class ChangeDetector {
  readonly #pings: { atSeconds: number; latencyMs: number }[] = [];
  #lastStepSeconds = Number.NEGATIVE_INFINITY;
  #isDropping = false;
  readonly #evidence: HandoverEvidence[] = [];

  /** What this second shows that was not known before. In order of `atSeconds`, its end on an even clock. */
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

  /** Evidence from elsewhere. */
  add(evidence: HandoverEvidence): void {
    this.#evidence.unshift(evidence);
    if (this.#evidence.length > KEPT) this.#evidence.pop();
  }

  /** Newest first. */
  list(): HandoverEvidence[] {
    return [...this.#evidence];
  }

  /** `zeroMs`: UTC of second 0 of the even clock. */
  #step(zeroMs: number): HandoverEvidence | undefined {
    if (this.#pings.length < BEFORE + AFTER) return undefined;
    const before = this.#pings.slice(0, BEFORE).map((ping) => ping.latencyMs);
    const after = this.#pings.slice(BEFORE).map((ping) => ping.latencyMs);
    const { atSeconds } = this.#pings[BEFORE]!;
    const level = middle(before);
    const spread = Math.max(LEAST_SPREAD_MS, 1.4826 * middle(before.map((value) => Math.abs(value - level))));
    const stepMs = middle(after) - level;
    const isStep = Math.abs(stepMs) >= LEAST_STEP_MS && Math.abs(stepMs) >= LEAST_SPREADS * spread;
    if (!isStep || atSeconds - this.#lastStepSeconds < APART_SECONDS) return undefined;
    this.#lastStepSeconds = atSeconds;
    const confidence = Math.min(0.95, 1 - Math.exp(-Math.abs(stepMs) / spread / 6));
    const detail = `latency from ${level.toFixed(1)} to ${middle(after).toFixed(1)} ms`;
    return { atMs: Math.round(zeroMs + atSeconds * 1000), kind: 'latency-step', confidence, detail };
  }
}

function middle(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}
