import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '../manual-clock.fixture.ts';
import { PredictionService } from '../prediction-service.ts';
import { chartOf, hourOf } from './chart.js';
import * as texts from './texts.js';

/** The chart has 10 px per second, and 34 px for the labels. */
const SIZE = { width: 784, height: 126 };
const EMPTY = { ...SIZE, usage: [], expected: [], forecast: undefined, handoverSeconds: undefined };
const FORECAST = {
  issuedSeconds: -1,
  stepEndsSeconds: [1, 3, 40],
  levels: [0.03, 0.25, 0.5, 0.75, 0.97],
  quantilesBps: [
    [0, 20e6, 40e6, 60e6, 900e6],
    [0, 10e6, 30e6, 50e6, 900e6],
    [0, 0, 20e6, 40e6, 900e6],
  ],
};

/** The points of a path. */
const points = (path: string) =>
  [...path.matchAll(/(\d+\.\d) (\d+\.\d)/g)].map(([, x, y]) => [Number(x), Number(y)] as const);

test('the chart is empty without anything to show, but has its axes', () => {
  const chart = chartOf(EMPTY);
  expect(chart).toMatchObject({ fan: [], median: '', usage: '', expected: '', handovers: [], now: 634 });
  expect(chart.times.map(({ label }) => label)).toEqual(['−60 s', '−45 s', '−30 s', '−15 s', 'now', '+15 s']);
  expect(chart.times.at(-1)!.x).toBe(784);
});

test('scales to a round rate above all that is shown', () => {
  const { rates } = chartOf({ ...EMPTY, usage: [{ atSeconds: -1, bps: 83e6 }] });
  expect(rates.map(({ label }) => label)).toEqual(['0', '50', '100']);
  expect(rates.map(({ y }) => y)).toEqual([108, 58, 8]);
  // The unseen tail of the forecast does not count.
  expect(chartOf({ ...EMPTY, forecast: FORECAST }).rates.at(-1)!.label).toBe('60');
});

test('draws a fan per range of quantiles, from the issue of the forecast to 15 s ahead', () => {
  const { fan, median, rates } = chartOf({ ...EMPTY, forecast: FORECAST });
  expect(fan.map(({ label }) => label)).toEqual(['25 to 75 %']);
  const outline = points(fan[0]!.path);
  expect(outline).toHaveLength(12);
  const xs = outline.map(([x]) => x);
  expect([Math.min(...xs), Math.max(...xs)]).toEqual([624, 784]);
  expect(points(median).map(([x]) => x)).toEqual([624, 634, 634, 654, 654, 784]);
  expect(points(median)[0]![1]).toBeCloseTo(rates.find(({ label }) => label === '40')!.y, 0);
});

test('interrupts a line at a gap, and starts it at 60 s ago', () => {
  const rates = [-61, -50, -49, -20, -19].map((atSeconds) => ({ atSeconds, bps: 1e6 }));
  const { usage, expected } = chartOf({ ...EMPTY, usage: rates });
  expect(usage.match(/[ML]/g)).toEqual(['M', 'L', 'M', 'L']);
  expect(expected).toBe('');
});

test('marks all handovers in view, 15 s apart', () => {
  expect(chartOf({ ...EMPTY, handoverSeconds: 7 }).handovers).toEqual([104, 254, 404, 554, 704]);
  expect(chartOf({ ...EMPTY, handoverSeconds: 0 }).handovers).toHaveLength(6);
});

test('the last hour has a bar per kind and minute, and none where nothing was observed', () => {
  const minutes = [
    { startSeconds: -3630, outageSeconds: 0, obstructedSeconds: 0 },
    { startSeconds: -30, outageSeconds: 2, obstructedSeconds: 5 },
  ];
  const { bars, rates } = hourOf({ ...SIZE, minutes });
  expect(rates.map(({ label }) => label)).toEqual(['0 s', '10 s']);
  expect(bars.map(({ style, y, height }) => [style, y, height])).toEqual([
    ['observed', 108, 3],
    ['observed', 108, 3],
    ['obstructed', 58, 50],
    ['outage', 38, 20],
  ]);
  // Half of each minute is in view.
  for (const { width } of bars) expect(width).toBeCloseTo(750 / 120 - 1);
  expect([bars[0]!.x, bars[1]!.x]).toEqual([34, 784 - 750 / 120]);
});

describe('texts', () => {
  const clock = new ManualClock();
  const service = new PredictionService({ clock, version: '1.2.3' });
  const STATE = service.state();
  const NOW_MS = STATE.serverUtcMs;
  const DISH = { ...STATE.dish, state: 'online' as const, sinceMs: NOW_MS - 720_000 };
  const RATES = { levels: [0.03, 0.1, 0.5, 0.9, 0.97], quantilesBps: [[1e6, 2.5e6, 40e6, 100e6, 900e6]] };
  const OTHERS = { stepEndsSeconds: [1], rankCorrelation: 0.5, handovers: [] };
  const FORECAST = { issuedAtMs: NOW_MS, source: 'service', ...RATES, ...OTHERS };

  test('the headline says what the service sees', () => {
    const link = { ...STATE.link, players: 2 };
    const online = texts.headline({ ...STATE, dish: DISH, link }, 6.2);
    expect(online).toBe('The dish is online. 2 players. Next handover in 7 s.');
    expect(texts.headline(STATE, undefined)).toBe('No dish is configured. No player reports.');
    const gone = { ...STATE, dish: { ...DISH, state: 'unreachable' as const }, link: { ...link, players: 1 } };
    expect(texts.headline(gone, undefined)).toBe('The dish does not answer. 1 player.');
  });

  test('a service that knows nothing says in each card what to do', () => {
    for (const card of [texts.dishCard(STATE), texts.skyCard(STATE), texts.recordingsCard(STATE)]) {
      expect(card).toMatch(/start the service with --\w+/);
    }
    expect(texts.handoversCard(service.handovers(), undefined, STATE)).toMatch(/^Unknown: /);
    const online = { ...STATE, dish: DISH };
    expect(texts.handoversCard(service.handovers(), undefined, online)).toMatch(
      /^Unknown, although the dish answers: /,
    );
    expect(texts.linkText(service.forecast(), STATE)).toBe(
      'No forecast: no throughput was observed yet. Forecasts begin when a player reports.',
    );
    expect(texts.playerRows(STATE)).toEqual([]);
    expect(texts.problemTexts(STATE)).toEqual([]);
    expect(texts.aboutText(STATE)).toBe('Version 1.2.3, started 0 s ago');
  });

  /** The rows of a card, as a line each. */
  const linesOf = (card: ReturnType<typeof texts.dishCard>) =>
    (card as (readonly string[])[]).map((row) => row.join(': '));

  test('cards show what is known and omit the rest', () => {
    const dish = { ...DISH, latencyMs: 43.4, dropRate: 0, downlinkUsageBps: 12.3e6, uplinkUsageBps: 0.42e6 };
    expect(linesOf(texts.dishCard({ ...STATE, dish }))).toEqual([
      ...['State: online, for 12 min', 'Ping: 43 ms', 'Lost pings: 0 %', 'Download: 12 Mbit/s', 'Upload: 0.4 Mbit/s'],
    ]);
    const shown = (state: 'outage' | 'unreachable', detail: string) =>
      linesOf(texts.dishCard({ ...STATE, dish: { ...DISH, state, detail } }));
    expect(shown('outage', 'no pings')).toEqual(['State: outage (no pings), for 12 min']);
    expect(shown('unreachable', 'no answer')).toEqual(['State: unreachable, for 12 min']);
    const recording = { directory: 'home', lines: 12_345, waiting: 7, lost: 0, deletedFiles: 0 };
    const recorded = ['Folder: home', 'Lines: 12,345', 'Waiting for the disk: 7', 'Old files deleted: 0'];
    expect(linesOf(texts.recordingsCard({ ...STATE, recording }))).toEqual(recorded);
    const inView = [{ name: 'STARLINK-1', elevationDegrees: 61.4, azimuthDegrees: 359 }];
    const sky = linesOf(texts.skyCard({ ...STATE, sky: { state: 'running', satellites: 1, inView } }));
    expect(sky).toEqual(['In view: 1 satellite above 25°', 'STARLINK-1: 61° high, north']);
    const handovers = linesOf(texts.handoversCard(service.handovers(), 3.1, STATE));
    expect(handovers).toEqual(['Next: in 4 s', 'Uncertainty: ± 2.0 s']);
  });

  test('the last hour is summed up, and says what to do about obstruction', () => {
    const minute = { startMs: 0, observedSeconds: 60, outageSeconds: 0, obstructedSeconds: 0 };
    const of = (...lastHour: (typeof minute)[]) => texts.hourText({ lastHour }, STATE);
    expect(of(minute)).toBe('No outage and no obstruction in 1 observed minute.');
    const outage = of(minute, { ...minute, outageSeconds: 7 });
    expect(outage).toBe('Outages: 7 s. View obstructed: 0 s. Affected: 1 of 2 observed minutes.');
    const obstructed = { ...minute, obstructedSeconds: 3 };
    expect(of(obstructed)).toContain('Something blocks the view');
    const simulated = { ...STATE, dish: { ...DISH, hardware: 'simulated' } };
    expect(texts.hourText({ lastHour: [obstructed] }, simulated)).not.toContain('Something');
    expect([texts.isSimulated(simulated), texts.isSimulated(STATE)]).toEqual([true, false]);
  });

  test('the link is a median, and what to count on', () => {
    const link = { ...STATE.link, observedSeconds: 340 };
    const reply = { serverUtcMs: NOW_MS, observedSeconds: 340, forecast: FORECAST };
    expect(texts.linkText(reply, { ...STATE, link })).toBe(
      'Expected capacity: 40 Mbit/s. If a call or stream must not stall, count on 2.5 Mbit/s (the risk of less is 10 %). ' +
        'Observed: 5 min of downloads.',
    );
    const three = { ...FORECAST, levels: [0.2, 0.5, 0.8], quantilesBps: [[1e6, 2e6, 3e6]] };
    const text = texts.linkText({ ...reply, forecast: three }, { ...STATE, link });
    expect(text).toContain('count on 1.0 Mbit/s (the risk of less is 20 %)');
  });

  test('durations have one unit', () => {
    const shown = [-3600, -1, 99.9, 100, 5999, 6000, 172_800].map(texts.duration);
    expect(shown).toEqual(['an unknown time', '0 s', '99 s', '1 min', '99 min', '1 h', '2 days']);
  });
});
