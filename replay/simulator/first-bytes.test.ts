/** MPC-L where the first bytes mislead: behind a token bucket, while TCP starts, and with short segments. */

import { describe, expect, test } from '@jest/globals';
import { createMpcL, type PiecewisePath } from '../../abr/index.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import { firstMinute } from '../evaluation/figures/first-minute.ts';
import { type FlightLink, Sender, SharedLink } from '../link/shared-link.ts';
import type { ResolvedScenario } from '../results.ts';
import { resolveScenario, scenarioNamed } from '../scenario-file.ts';
import type { Scenario } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { traceUntil } from './made-up.fixture.ts';
import { simulateSession } from './play.ts';

/**
 * A session's way to a link behind a token bucket, which is full while the link is idle and fills at the link's rate;
 * while it has tokens, the link delivers at its peak. One download at a time.
 */
class TokenBucket extends Sender {
  /** Tokens at a second of the session. */
  #level: { tokens: number; seconds: number };
  #isSending = false;

  constructor(private readonly shape: { rateBps: number; peakBps: number; bucketBits: number }) {
    super(new SharedLink(), 0);
    this.#level = { tokens: shape.bucketBits, seconds: 0 };
  }

  /** Only the latency of `link` counts. */
  override shareOf(link: PiecewisePath): FlightLink {
    const { rateBps, peakBps } = this.shape;
    const transferSeconds = (startSeconds: number, bits: number) => {
      const latencySeconds = link.transferSeconds(startSeconds, 0);
      const { tokens } = this.#begin(startSeconds + latencySeconds);
      return latencySeconds + Math.max(bits / peakBps, (bits - tokens) / rateBps);
    };
    return { cumulativeBits: (seconds) => this.#sent(seconds), transferSeconds, downloadSeconds: transferSeconds };
  }

  override end(nowSeconds: number): void {
    const { tokens, seconds } = this.#level;
    const left = tokens + this.shape.rateBps * (nowSeconds - seconds) - this.#sent(nowSeconds);
    this.#level = { tokens: Math.max(0, left), seconds: nowSeconds };
    this.#isSending = false;
    super.end(nowSeconds);
  }

  /** Nothing shares the link. */
  override divide(): void {}

  /** Bits since the flight's first bit. The first call is for the moment of that bit. */
  #sent(atSeconds: number): number {
    const { rateBps, peakBps } = this.shape;
    const { tokens, seconds } = this.#begin(atSeconds);
    const elapsed = Math.max(0, atSeconds - seconds);
    return Math.min(peakBps * elapsed, tokens + rateBps * elapsed);
  }

  #begin(atSeconds: number) {
    if (this.#isSending) return this.#level;
    const { rateBps, bucketBits } = this.shape;
    const { tokens, seconds } = this.#level;
    this.#isSending = true;
    this.#level = { tokens: Math.min(bucketBits, tokens + rateBps * (atSeconds - seconds)), seconds: atSeconds };
    return this.#level;
  }
}

const MEDIA_SECONDS = 120;

function scenarioOf(name: string): ResolvedScenario {
  const scenario = resolveScenario(scenarioNamed(name));
  return { ...scenario, segmentCount: MEDIA_SECONDS / scenario.segmentSeconds };
}

const LADDERS = [scenarioOf('two-30'), scenarioOf('ladder-8')];
const flat = (mbps: number): Trace => traceUntil([{ until: 300, mbps }]);

/** TCP's first window of ten packets per round trip, doubled in each later round trip. */
function slowStart(mbps: number, { rttSeconds, payloadShare }: Scenario): Trace {
  const steps: { until: number; mbps: number }[] = [];
  let until = 2 * rttSeconds;
  for (let rate = (10 * 1500 * 8) / rttSeconds / 1e6; rate < mbps; rate *= 2) {
    until += rttSeconds;
    steps.push({ until, mbps: rate / payloadShare });
  }
  return traceUntil([...steps, { until: 300, mbps: mbps / payloadShare }]);
}

function play(scenario: Scenario, { trace = flat(1), access }: { trace?: Trace; access?: TokenBucket }) {
  let abandonments = 0;
  const session = simulateSession({
    ...{ trace, scenario, controller: createMpcL(), forecaster: createBuiltInForecaster(), ...(access && { access }) },
    onDecision: ({ asked, answer }) => {
      if (asked === 'reconsider' && answer !== 'keep') abandonments++;
    },
  });
  return { ...session, ...firstMinute(session, scenario), abandonments };
}

/** Behind a bucket of some seconds of the link's rate. */
const behind = (seconds: number, mbps: number, peakMbps: number) =>
  new TokenBucket({ rateBps: mbps * 1e6, peakBps: peakMbps * 1e6, bucketBits: seconds * mbps * 1e6 });

describe.each(LADDERS)('$name', (scenario) => {
  const top = scenario.ladderBps.at(-1)! / 1e6;

  test.each([4, 8])('the bucket of a link of %d Mbit/s leads to no stall worth the name, and costs little', (mbps) => {
    const without = play(scenario, { access: behind(0, mbps, mbps) });
    for (const seconds of [0.25, 0.5, 1]) {
      const { stallSeconds, qoeFirst30Seconds, abandonments } = play(scenario, { access: behind(seconds, mbps, 100) });
      expect(stallSeconds).toBeLessThan(0.3);
      expect(abandonments).toBeLessThanOrEqual(2);
      expect(qoeFirst30Seconds).toBeGreaterThan(without.qoeFirst30Seconds - 0.12 * top);
    }
  });

  test.each([4, 8])('slow start to %d Mbit/s costs a segment or two', (mbps) => {
    const without = play(scenario, { trace: flat(mbps / scenario.payloadShare) });
    const { stallSeconds, qoeFirst30Seconds, abandonments } = play(scenario, { trace: slowStart(mbps, scenario) });
    expect(stallSeconds).toBeLessThan(0.3);
    expect(abandonments).toBe(0);
    expect(qoeFirst30Seconds).toBeGreaterThan(without.qoeFirst30Seconds - 0.12 * top);
  });
});

test.each([
  { mbps: 4, showsSeconds: 12, rampSeconds: 40 },
  { mbps: 8, showsSeconds: 4, rampSeconds: 7 },
])('segments of 1, 2 and 4 s show quality equally soon at $mbps Mbit/s', ({ mbps, showsSeconds, rampSeconds }) => {
  for (const segmentSeconds of [1, 2, 4]) {
    const { segmentSizesBits: _own, ...two } = LADDERS[0]!;
    const scenario = { ...two, segmentSeconds, segmentCount: MEDIA_SECONDS / segmentSeconds };
    const played = play(scenario, { trace: flat(mbps / two.payloadShare) });
    const first = played.segments.findIndex(({ bitrateBps }) => bitrateBps >= two.ladderBps[2]!);
    expect(first * segmentSeconds).toBeLessThanOrEqual(showsSeconds);
    expect(played.rampSeconds).toBeLessThan(rampSeconds);
  }
});
