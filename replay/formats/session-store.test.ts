import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, forAll, whole } from '../../abr/property.fixture.ts';
import { testSession } from '../evaluation/test-sessions.fixture.ts';
import { put, temporaryFolder } from '../folder.fixture.ts';
import type { Trace } from '../trace.ts';
import { runsOf } from './join-pieces.ts';
import { decimalOf } from './lines.ts';
import { SessionStore, sessionLine } from './session-store.ts';
import { parseTraceCsv } from './trace-csv.ts';

describe('session-store', () => {
  // Letters of two and three bytes, so that bytes and characters differ.
  const SESSIONS = ['first', 'zweite Fähre', '第三'].map((trace, i) => testSession({ trace, stallSeconds: i }));

  const at = temporaryFolder('test');
  let store: SessionStore;
  afterEach(() => store.close());

  test('gives the same sessions back, with their rows and without', () => {
    store = new SessionStore();
    const stored = [...store.add(SESSIONS.slice(0, 2)), ...store.add(SESSIONS.slice(2))];
    expect(stored.map(({ trace, stallSeconds }) => ({ trace, stallSeconds }))).toEqual(
      SESSIONS.map(({ trace, stallSeconds }) => ({ trace, stallSeconds })),
    );
    // In any order, as a report reads them.
    for (const i of [2, 0, 1]) expect(stored[i]!.segments).toEqual(SESSIONS[i]!.segments);
    expect(JSON.parse(JSON.stringify(stored))).toEqual(SESSIONS);
  });

  test('without a file, follows no link that waits in the temporary folder', () => {
    const others = put(at('others'), 'of others');
    const name = `leo-abr-sessions.${process.pid}.tmp`;
    const links = [name, `.${name}.${process.pid}.tmp`].map((one) => join(tmpdir(), one));
    for (const link of links) symlinkSync(others, link);
    try {
      store = new SessionStore();
      expect(store.add(SESSIONS)[1]!.segments).toEqual(SESSIONS[1]!.segments);
      expect(readFileSync(others, 'utf8')).toBe('of others');
    } finally {
      for (const link of links) rmSync(link, { force: true });
    }
  });

  test('keeps no rows in memory', () => {
    store = new SessionStore();
    const [stored] = store.add(SESSIONS);
    expect(Object.keys(stored!)).not.toContain('segments');
    expect(stored!.segments).not.toBe(stored!.segments);
  });

  test('writes a file of the head and a line per session, replacing what was there', () => {
    const file = at('results.json');
    writeFileSync(file, 'old');
    store = new SessionStore({ file, head: () => '{"é":[\n' });
    for (const session of SESSIONS) expect(store.add([session])[0]!.segments).toEqual(session.segments);
    expect(readFileSync(file, 'utf8')).toBe(`{"é":[\n${SESSIONS.map(sessionLine).join('')}`);
  });

  test('makes no file without a session', () => {
    const file = at('results.json');
    store = new SessionStore({ file, head: () => '' });
    expect(() => readFileSync(file)).toThrow('ENOENT');
  });
});

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

test('equals Number for every finite number in any notation', () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    between(0, 1e6).map((value) => value.toFixed(6)),
    fc.integer().map(String),
  );
  forAll([number], { seed: 1, numRuns: 2000 }, (text) => {
    expect(decimalOf(text)).toBe(Number(text));
  });
});

test.each(['', '-', '.', '1.2.3', '0x10', 'Infinity', 'NaN', '1e', '1e999', '1 2', 'abc'])(
  '%j is no number',
  (text) => {
    expect(decimalOf(text)).toBeNaN();
  },
);
