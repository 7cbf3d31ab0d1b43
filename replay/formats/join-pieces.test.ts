import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forAll, whole } from '../../abr/property.fixture.ts';
import type { Trace } from '../trace.ts';
import { runsOf } from './join-pieces.ts';
import { parseTraceCsv } from './trace-csv.ts';

const START_MS = Date.UTC(2026, 0, 1, 12);

/** Pieces of one file: a rate in Mbit/s per second, null where unknown. */
function pieces(rates: readonly (number | null)[], metadata: Partial<Trace['metadata']> = { startUtcMs: START_MS }) {
  const rows = rates.map((rate, i) => `${i},${rate ?? ''},30,`);
  const recording = { dataset: 'recorded', recordingGroup: 'roof', ...metadata };
  const source = { name: 'trace', file: 'trace.csv', metadata: recording };
  return parseTraceCsv(`time_s,throughput_mbps,rtt_ms,loss\n${rows.join('\n')}\n`, source);
}

const mbps = ({ ratesBps }: Trace) => [...ratesBps].map((rate) => rate / 1e6);

test('runs bridge short pauses linearly, count them and keep the pings', () => {
  const runs = runsOf(pieces([10, 10, null, null, null, 50, 60, null, 20]), 3);
  expect(runs).toHaveLength(1);
  const [{ trace, bridgedSeconds }] = runs as [(typeof runs)[0]];
  expect(mbps(trace)).toEqual([10, 10, 20, 30, 40, 50, 60, 40, 20]);
  expect([...trace.stepEndsSeconds]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const [known, none] = [0.03, Number.NaN];
  expect([...trace.rttSeconds!]).toEqual([known, known, none, none, none, known, known, none, known]);
  expect({ bridgedSeconds, duration: trace.durationSeconds }).toEqual({ bridgedSeconds: 4, duration: 9 });
  expect(trace.metadata.startUtcMs).toBe(START_MS);
});

test('runs end at longer pauses and at the end of a file', () => {
  const one = pieces([10, null, null, null, 50, null, 50]);
  const other = pieces([70, 70]).map((piece) => ({ ...piece, file: 'other.csv' }));
  const runs = runsOf([...one, ...other], 2);
  expect(runs.map(({ trace }) => mbps(trace))).toEqual([[10], [50, 50, 50], [70, 70]]);
  const seconds = runs.map(({ trace }) => (trace.metadata.startUtcMs! - START_MS) / 1000);
  expect(seconds).toEqual([0, 4, 0]);
});

test('runs bridge nothing without a clock', () => {
  expect(runsOf(pieces([10, null, 50], {}), 10)).toHaveLength(2);
});

test('runs keep every known second; bridged seconds lie between their neighbours', () => {
  const rate = fc.option(whole(1, 200), { freq: 2 });
  const anyRates = fc.array(rate, { minLength: 2, maxLength: 60 });
  forAll([anyRates, whole(0, 5)], { seed: 1, numRuns: 200 }, (rates, longest) => {
    fc.pre(rates.some((one) => one !== null));
    const runs = runsOf(pieces(rates), longest);
    let known = 0;
    for (const { trace } of runs) {
      const offset = Math.round((trace.metadata.startUtcMs! - START_MS) / 1000);
      mbps(trace).forEach((value, i) => {
        const was = rates[offset + i];
        if (was === null) {
          expect(value).toBeGreaterThan(0);
          expect(value).toBeLessThanOrEqual(200);
        } else {
          expect(value).toBeCloseTo(was!);
          known++;
        }
      });
    }
    expect(known).toBe(rates.filter((one) => one !== null).length);
  });
});
