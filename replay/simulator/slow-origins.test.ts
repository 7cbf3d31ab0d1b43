/** Origins that make media on demand: first bytes that take seconds, and a representation that does not answer. */

import { describe, expect, test } from '@jest/globals';
import type { QuantileForecast } from '../../abr/index.ts';
import { createLiveMpcL } from '../../abr/mpc-l/live/live-mpc-l.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import type { FlightLink } from '../link/shared-link.ts';
import { resolveScenario, scenarioNamed } from '../scenario-file.ts';
import { EventQueue } from './event-queue.ts';
import { traceUntil } from './made-up.fixture.ts';
import { Flight } from './player/flight.ts';
import { OnDemandPlayer } from './player/on-demand-player.ts';
import type { AnswerRecord } from './simulation-options.ts';

/** `asked`: earlier requests for the representation; `before`: the representation of the request before. */
type Request = { representation: number; asked: number; before: number | undefined };

class SlowOrigin extends OnDemandPlayer {
  readonly requested: number[] = [];
  /** Seconds that a request waits for its first byte besides its round trip. */
  waitSeconds!: (request: Request) => number;

  protected override newFlight(index: number, sizeBits: number): Flight {
    const { sizes } = this as unknown as { sizes: number[][] };
    const { requested, scenario } = this;
    const representation = sizes[index]!.indexOf(sizeBits);
    const asked = requested.filter((one) => one === representation).length;
    const wait = this.waitSeconds({ representation, asked, before: requested.at(-1) });
    requested.push(representation);
    const link = this.access.shareOf(this.link);
    const later: FlightLink = {
      cumulativeBits: (seconds) => link.cumulativeBits(seconds),
      transferSeconds: (start, bits) => wait + link.transferSeconds(start + wait, bits),
      downloadSeconds: (start, bits) => wait + link.downloadSeconds(start + wait, bits),
    };
    return new Flight(later, this.nowSeconds, sizeBits, scenario.rttSeconds + wait);
  }
}

function play(waitSeconds: SlowOrigin['waitSeconds'], { name, mbps }: { name: string; mbps: number }) {
  const records: AnswerRecord[] = [];
  const queue = new EventQueue();
  const player = new SlowOrigin(
    {
      trace: traceUntil([{ until: 600, mbps }]),
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
  const { requested } = player;
  const abandonments = records.filter(({ asked, answer }) => asked === 'reconsider' && answer !== 'keep').length;
  const { levels, quantilesBps } = records.at(-1)!.forecast as QuantileForecast;
  const forecastMbps = quantilesBps[0]![levels.indexOf(0.5)]! / 1e6;
  const meanMbps = segments.reduce((sum, { bitrateBps }) => sum + bitrateBps, 0) / segments.length / 1e6;
  return { requested, stallSeconds, abandonments, forecastMbps, meanMbps };
}

const LINKS = ['hd-16', 'hd-30', 'two-30'].flatMap((name) => [10, 4].map((mbps) => ({ name, mbps })));

describe.each(LINKS)('$name at $mbps Mbit/s', (link) => {
  const usual = play(() => 0, link);

  test.each<[string, SlowOrigin['waitSeconds']]>([
    ['new representation', ({ asked }) => (asked === 0 ? 3 : 0)],
    ['switch', ({ representation, before }) => (representation === before ? 0 : 3)],
  ])('a wait of 3 s at each %s is no throughput, and few segments are asked for twice', (_, waitSeconds) => {
    const { stallSeconds, abandonments, forecastMbps, meanMbps } = play(waitSeconds, link);
    expect(stallSeconds).toBe(0);
    expect(abandonments).toBeLessThanOrEqual(3);
    expect(Math.abs(Math.log(forecastMbps / usual.forecastMbps))).toBeLessThan(0.2);
    expect(meanMbps).toBeGreaterThan(0.35 * usual.meanMbps);
  });

  test('a wait of 1.5 s at each request is no throughput', () => {
    const { stallSeconds, abandonments, forecastMbps, meanMbps } = play(() => 1.5, link);
    expect([stallSeconds, abandonments]).toEqual([0, 0]);
    expect(Math.abs(Math.log(forecastMbps / usual.forecastMbps))).toBeLessThan(0.1);
    expect(meanMbps).toBeGreaterThan(0.2 * usual.meanMbps);
  });

  test.each([
    ['hangs', 1e4, 4, 0],
    ['is slow after others', 3, Number.POSITIVE_INFINITY, 0.4],
  ])('a representation that %s does not stall', (_, seconds, mostRequests, leastShare) => {
    const { requested, stallSeconds, abandonments, meanMbps } = play(
      ({ representation, before }) => (representation === 3 && (seconds > 3 || before !== 3) ? seconds : 0),
      link,
    );
    expect(stallSeconds).toBe(0);
    expect(abandonments).toBeLessThanOrEqual(4);
    expect(requested.filter((one) => one === 3).length).toBeLessThanOrEqual(mostRequests);
    expect(meanMbps).toBeGreaterThan(leastShare * usual.meanMbps);
  });
});
