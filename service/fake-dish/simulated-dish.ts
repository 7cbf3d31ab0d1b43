/** Synthetic telemetry of a dish. Each second depends only on the seed and its time. */

import { EPOCH_SECONDS, HANDOVER_SECOND } from '../../abr/forecast.ts';
import type { OutageCause } from '../dish/device-api.ts';
import type { TelemetrySecond } from '../telemetry.ts';

export interface SimulatedSecond extends TelemetrySecond {
  dropRate: number;
  downlinkUsageBps: number;
  uplinkUsageBps: number;
  obstructed: boolean;
  outage?: OutageCause;
}

export interface DishScript {
  /** Returns the second that ends at `atMs`, a multiple of 1000 (UTC in ms). */
  at(atMs: number): SimulatedSecond;
}

type Numbers = readonly number[] | Float64Array;

/** Capacity over time, as in a trace. It repeats after `wrapSeconds`, which must be a multiple of 15. */
export interface SimulatedCapacity {
  /** UTC in ms of second 0, which keeps the trace's epochs in phase. */
  startUtcMs: number;
  wrapSeconds: number;
  stepEndsSeconds: Numbers;
  ratesBps: Numbers;
  /** Round-trip time per step; NaN if it is unknown. Default: unknown. */
  rttSeconds?: Numbers | undefined;
}

const EPOCH_MS = EPOCH_SECONDS * 1000;
const PHASE_MS = HANDOVER_SECOND * 1000;
/** Share of epochs with an obstruction. */
const OBSTRUCTED_SHARE = 0.03;
/** Shares of handovers with lost pings and with raised latency. */
const LOSSY_SHARE = 0.3;
const SLOW_SHARE = 0.5;
/** The household always plays: it downloads for 8 s of every 12 s. */
const BUSY_PERIOD_SECONDS = 12;
const BUSY_SECONDS = 8;
const IDLE_BPS = 4e5;

/** `capacity`: default 100 Mbit/s throughout. */
export function syntheticDish({ seed, capacity }: { seed: number; capacity?: SimulatedCapacity }): DishScript {
  return {
    at(atMs) {
      const { epoch, second } = epochOf(atMs);
      const ofEpoch = (what: number) => uniform(seed, epoch, what);
      const ofSecond = (what: number) => uniform(seed, Math.floor(atMs / 1000), 100 + what);
      const blockedFrom = 3 + Math.floor(ofEpoch(2) * 6);
      const blockedUntil = blockedFrom + 2 + Math.floor(ofEpoch(3) * 4);
      const obstructed = ofEpoch(1) < OBSTRUCTED_SHARE && second >= blockedFrom && second < blockedUntil;
      if (obstructed) {
        return { atMs, dropRate: 1, downlinkUsageBps: 0, uplinkUsageBps: 0, obstructed, outage: 'OBSTRUCTED' };
      }
      const isFirst = second === 0;
      const measured = capacity && valueAt(capacity, capacity.rttSeconds, atMs - 500);
      // The latency is 22 to 45 ms per epoch, with a jitter of 2 ms and up to 40 ms more in the first second.
      const baseMs = 22 + 23 * ofEpoch(4) ** 2 + 4 * (ofSecond(1) - 0.5);
      const bumpMs = isFirst && ofEpoch(5) < SLOW_SHARE ? 15 + 25 * ofEpoch(6) : 0;
      const latencyMs = measured !== undefined && measured > 0 ? measured * 1000 : baseMs + bumpMs;
      const dropRate = isFirst && ofEpoch(7) < LOSSY_SHARE ? 0.05 + 0.25 * ofEpoch(8) : ofSecond(2) < 0.02 ? 0.05 : 0;
      const limitBps = capacity === undefined ? 1e8 : (valueAt(capacity, capacity.ratesBps, atMs - 500) ?? 0);
      const isBusy = Math.floor(atMs / 1000) % BUSY_PERIOD_SECONDS < BUSY_SECONDS;
      const downlinkUsageBps = Math.min(limitBps, isBusy ? limitBps : IDLE_BPS * (0.5 + ofSecond(3)));
      const uplinkUsageBps = downlinkUsageBps * 0.03 + IDLE_BPS * 0.2 * ofSecond(4);
      return { atMs, latencyMs, dropRate, downlinkUsageBps, uplinkUsageBps, obstructed };
    },
  };
}

/** Returns the epoch, and the second in it, that contain the moment just before `atMs`. */
function epochOf(atMs: number): { epoch: number; second: number } {
  const epoch = Math.floor((atMs - 1 - PHASE_MS) / EPOCH_MS);
  return { epoch, second: Math.floor((atMs - 1 - PHASE_MS - epoch * EPOCH_MS) / 1000) };
}

function valueAt(
  { startUtcMs, wrapSeconds, stepEndsSeconds }: SimulatedCapacity,
  values: Numbers | undefined,
  atMs: number,
): number | undefined {
  if (values === undefined) return undefined;
  const seconds = (((atMs - startUtcMs) / 1000) % wrapSeconds) + (atMs < startUtcMs ? wrapSeconds : 0);
  return values[stepEndsSeconds.findIndex((end) => end > seconds)] ?? values.at(-1);
}

/** Hashes the arguments to a number in [0, 1), with the finalizer of MurmurHash3. */
function uniform(seed: number, index: number, what: number): number {
  let hash = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index | 0, 0xc2b2ae35) ^ Math.imul(what, 0x27d4eb2f);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 4294967296;
}
