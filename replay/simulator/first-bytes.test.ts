/**
 * MPC-L where the first bytes mislead: behind a token bucket, while TCP starts, with short segments, and from origins
 * that make media on demand.
 */

import { beforeAll, describe, expect, test } from '@jest/globals';
import type { PiecewisePath, QuantileForecast } from '../../abr/index.ts';
import { createLiveMpcL } from '../../abr/mpc-l/live/live-mpc-l.ts';
import { sessionQoe } from '../../abr/qoe/session-qoe.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import { firstMinute } from '../evaluation/figures/first-minute.ts';
import { type FlightLink, Sender, SharedLink } from '../link/shared-link.ts';
import type { AnswerRecord } from '../observed-controller.ts';
import type { ResolvedScenario, SessionResult } from '../results.ts';
import { resolveScenario, scenarioNamed } from '../scenario-file.ts';
import type { Scenario } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { EventQueue } from './event-queue.ts';
import { traceUntil } from './made-up.fixture.ts';
import { simulateSession } from './play.ts';
import { Flight } from './player/flight.ts';
import { OnDemandPlayer } from './player/on-demand-player.ts';

/**
 * A session's way to a link behind a token bucket, which is full while the link is idle and fills at the link's rate;
 * while it has tokens, the link delivers at its peak. One download at a time.
 */
class TokenBucket extends Sender {
  /** Tokens at a second of the session. */
  private _level: { tokens: number; seconds: number };
  private _isSending = false;

  constructor(private readonly _shape: { rateBps: number; peakBps: number; bucketBits: number }) {
    super(new SharedLink(), 0);
    this._level = { tokens: _shape.bucketBits, seconds: 0 };
  }

  /** Only the latency of `link` counts. */
  override shareOf(link: PiecewisePath): FlightLink {
    const { rateBps, peakBps } = this._shape;
    const downloadSeconds = (startSeconds: number, bits: number) => {
      const latencySeconds = link.downloadSeconds(startSeconds, 0);
      const { tokens } = this._begin(startSeconds + latencySeconds);
      return latencySeconds + Math.max(bits / peakBps, (bits - tokens) / rateBps);
    };
    return { cumulativeBits: (seconds) => this._sent(seconds), downloadSeconds };
  }

  override end(nowSeconds: number): void {
    const { tokens, seconds } = this._level;
    const left = tokens + this._shape.rateBps * (nowSeconds - seconds) - this._sent(nowSeconds);
    this._level = { tokens: Math.max(0, left), seconds: nowSeconds };
    this._isSending = false;
    super.end(nowSeconds);
  }

  /** Nothing shares the link. */
  override divide(): void {}

  /** Bits since the flight's first bit. The first call is for the moment of that bit. */
  private _sent(atSeconds: number): number {
    const { rateBps, peakBps } = this._shape;
    const { tokens, seconds } = this._begin(atSeconds);
    const elapsed = Math.max(0, atSeconds - seconds);
    return Math.min(peakBps * elapsed, tokens + rateBps * elapsed);
  }

  private _begin(atSeconds: number) {
    if (this._isSending) return this._level;
    const { rateBps, bucketBits } = this._shape;
    const { tokens, seconds } = this._level;
    this._isSending = true;
    this._level = { tokens: Math.min(bucketBits, tokens + rateBps * (atSeconds - seconds)), seconds: atSeconds };
    return this._level;
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

type Way = { trace?: Trace; access?: TokenBucket };

const abandonmentsIn = (records: readonly AnswerRecord[]) =>
  records.filter(({ asked, answer }) => asked === 'reconsider' && answer !== 'keep').length;

function play(scenario: Scenario, { trace = flat(1), ...access }: Way) {
  const records: AnswerRecord[] = [];
  const session = simulateSession({
    ...{ trace, scenario, controller: createLiveMpcL(), forecaster: createBuiltInForecaster(), ...access },
    onDecision: (record) => records.push(record),
  });
  const qoeFirst30Seconds = qoeUpTo(30, session, scenario);
  return { ...session, ...firstMinute(session, scenario), qoeFirst30Seconds, abandonments: abandonmentsIn(records) };
}

function qoeUpTo(
  seconds: number,
  { segments, startupSeconds }: SessionResult,
  { segmentSeconds, mu, lambda }: Scenario,
): number {
  const first = segments.slice(0, Math.ceil(seconds / segmentSeconds));
  const stallSeconds = first.reduce((sum, one) => sum + one.stallSeconds, 0);
  const played = {
    bitratesBps: first.map(({ bitrateBps }) => bitrateBps),
    segmentSeconds,
    startupSeconds,
    stallSeconds,
  };
  return sessionQoe(played, { quality: (bitrateBps) => bitrateBps / 1e6, mu, lambda }).qoe;
}

/** Behind a bucket of some seconds of the link's rate. */
const behind = (seconds: number, mbps: number, peakMbps: number) =>
  new TokenBucket({ rateBps: mbps * 1e6, peakBps: peakMbps * 1e6, bucketBits: seconds * mbps * 1e6 });

describe.each(LADDERS)('$name', (scenario) => {
  function costsLittle(way: Way, usualQoe: number, mostAbandonments: number): void {
    const { stallSeconds, qoeFirst30Seconds, abandonments } = play(scenario, way);
    expect(stallSeconds).toBeLessThan(0.3);
    expect(abandonments).toBeLessThanOrEqual(mostAbandonments);
    expect(qoeFirst30Seconds).toBeGreaterThan(usualQoe - (0.12 * scenario.ladderBps.at(-1)!) / 1e6);
  }

  test.each([4, 8])('the bucket of a link of %d Mbit/s leads to no stall worth the name, and costs little', (mbps) => {
    const { qoeFirst30Seconds } = play(scenario, { access: behind(0, mbps, mbps) });
    for (const seconds of [0.25, 0.5, 1]) costsLittle({ access: behind(seconds, mbps, 100) }, qoeFirst30Seconds, 2);
  });

  test.each([4, 8])('slow start to %d Mbit/s costs a segment or two', (mbps) => {
    const { qoeFirst30Seconds } = play(scenario, { trace: flat(mbps / scenario.payloadShare) });
    costsLittle({ trace: slowStart(mbps, scenario) }, qoeFirst30Seconds, 1);
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

/** `asked`: earlier requests for the representation; `before`: the representation of the request before. */
type Request = { representation: number; asked: number; before: number | undefined };
/** Seconds that a request waits for its first byte besides its round trip. */
type Wait = (request: Request) => number;

class SlowOrigin extends OnDemandPlayer {
  readonly requested: number[] = [];
  waitSeconds!: Wait;

  protected override newFlight(index: number, sizeBits: number): Flight {
    const { requested, scenario } = this;
    const representation = resolveScenario(scenario).segmentSizesBits[index]!.indexOf(sizeBits);
    const asked = requested.filter((one) => one === representation).length;
    const wait = this.waitSeconds({ representation, asked, before: requested.at(-1) });
    requested.push(representation);
    const link = this.access.shareOf(this.link);
    const later: FlightLink = {
      cumulativeBits: (seconds) => link.cumulativeBits(seconds),
      downloadSeconds: (start, bits) => wait + link.downloadSeconds(start + wait, bits),
    };
    return new Flight(later, this.nowSeconds, sizeBits, scenario.rttSeconds + wait, this.responseSeconds(sizeBits));
  }
}

function playSlowly(waitSeconds: Wait, name: string, mbps: number) {
  const records: AnswerRecord[] = [];
  const queue = new EventQueue();
  const player = new SlowOrigin(
    {
      trace: flat(mbps),
      scenario: { ...resolveScenario(scenarioNamed(name)), traceScale: { factor: 1 } },
      ...{ controller: createLiveMpcL(), forecaster: createBuiltInForecaster(), segmentCount: 40 },
      onDecision: (record) => records.push(record),
    },
    queue,
  );
  player.waitSeconds = waitSeconds;
  player.start();
  while (!player.isOver) queue.runNext();
  const { segments, stallSeconds } = player.result();
  const { levels, quantilesBps } = records.at(-1)!.forecast as QuantileForecast;
  const forecastBps = quantilesBps[0]![levels.indexOf(0.5)]!;
  const meanBps = segments.reduce((sum, { bitrateBps }) => sum + bitrateBps, 0) / segments.length;
  const requestsForThird = player.requested.filter((one) => one === 3).length;
  return { stallSeconds, abandonments: abandonmentsIn(records), forecastBps, meanBps, requestsForThird };
}

describe.each([
  ['hd-16', 10],
  ['hd-30', 4],
  ['two-30', 10],
  ['two-30', 4],
])('from a slow origin in %s at %d Mbit/s', (name, mbps) => {
  let usual: ReturnType<typeof playSlowly>;
  beforeAll(() => {
    usual = playSlowly(() => 0, name, mbps);
  });

  // The limits: abandonments, the least share of the usual bitrate, and the error of the last forecast.
  test.each<[string, Wait, number, number, number]>([
    ['3 s for each new representation', ({ asked }) => (asked === 0 ? 3 : 0), 3, 0.35, 0.2],
    ['3 s at each switch', ({ representation, before }) => (representation === before ? 0 : 3), 3, 0.35, 0.2],
    ['1.5 s at each request', () => 1.5, 0, 0.2, 0.1],
    [
      '3 s for one representation',
      ({ representation: r, before }) => (r === 3 && before !== 3 ? 3 : 0),
      4,
      0.4,
      Infinity,
    ],
    ['hours for one representation', ({ representation }) => (representation === 3 ? 1e4 : 0), 4, 0, Infinity],
  ])('a wait of %s does not stall, is no throughput, and repeats few requests', (_, wait, most, share, error) => {
    const { stallSeconds, abandonments, forecastBps, meanBps, requestsForThird } = playSlowly(wait, name, mbps);
    // Nobody sees less than 0.1 s (UNSEEN_SECONDS).
    expect(stallSeconds).toBeLessThan(0.1);
    expect(abandonments).toBeLessThanOrEqual(most);
    expect(meanBps).toBeGreaterThan(share * usual.meanBps);
    expect(Math.abs(Math.log(forecastBps / usual.forecastBps))).toBeLessThan(error);
    if (share === 0) expect(requestsForThird).toBeLessThanOrEqual(4);
  });
});
