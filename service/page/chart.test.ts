import { expect, test } from '@jest/globals';
import { chartOf, hourOf } from './chart.js';

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
