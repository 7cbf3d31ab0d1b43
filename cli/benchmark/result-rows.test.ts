import { expect, test } from '@jest/globals';
import { testLiveMetrics, testResults, testSession } from '../../replay/evaluation/test-sessions.fixture.ts';
import type { SweepRow } from '../../transport/sweep.ts';
import { resultRows, resultTable } from './result-rows.ts';

test('rows of sessions: per data set and algorithm, with differences from the baseline, and per transport', () => {
  const sessions = ['mob-tcp-dl-1', 'mob-udp-dl-1'].flatMap((trace, i) => [
    testSession({ trace, group: trace, qoeLinear: 10 + 20 * i }),
    testSession({ trace, group: trace, qoeLinear: 13 + 20 * i, algorithm: 'mpc-l', stallSeconds: 12 * i }),
  ]);
  const all = resultRows(testResults(sessions));
  const rows = all.filter((row) => row['chosen, Mbit/s'] === undefined);
  expect(rows.map(({ recordings, algorithm, QoE }) => `${recordings} ${algorithm} ${QoE}`)).toEqual([
    ...['set mpc-d 20', 'set mpc-l 23', 'set tcp mpc-d 10', 'set tcp mpc-l 13', 'set udp mpc-d 30', 'set udp mpc-l 33'],
  ]);
  const shares = all.flatMap((row) => (row['algorithm'] === 'mpc-l' ? (row['segments, %'] ?? []) : []));
  expect(shares.reduce<number>((sum, share) => sum + Number(share), 0)).toBeCloseTo(100);
  expect(rows[1]).toMatchObject({ scenario: 'uhd-8', sessions: 2, 'Mbit/s': 3, 'stalls, s': 6, 'worst 5 %, s': 12 });
  expect(rows[1]!['QoE, difference']).toEqual([3, 3, 3]);
  expect(rows[0]!['QoE, difference']).toBeNull();
  // One recording has no interval.
  expect(rows[3]!['QoE, difference']).toEqual([3]);
});

test("a transport has its data set's units: two recordings of one group have no interval", () => {
  const traces = ['a-udp-0', 'b-udp-0', ...Array.from({ length: 7 }, (_, i) => `c-tcp-${i + 1}`)];
  const sessions = traces.flatMap((trace, i) =>
    ['mpc-d', 'mpc-l'].map((algorithm) => testSession({ trace, group: trace.slice(6), algorithm, qoeLinear: i })),
  );
  const rows = resultRows(testResults(sessions)).filter(({ algorithm }) => algorithm === 'mpc-l');
  expect(rows.find(({ recordings }) => recordings === 'set udp')!['QoE, difference']).toEqual([0]);
  expect(rows.find(({ recordings }) => recordings === 'set tcp')!['QoE, difference']).toEqual([0, 0, 0]);
});

test('the gap closed is null above the oracle', () => {
  const qoes = { 'mpc-d': 50, 'mpc-o': 60, 'mpc-l': 61, bola: 55 };
  const sessions = Object.entries(qoes).flatMap(([algorithm, qoeLinear]) =>
    Array.from({ length: 12 }, (_, i) => testSession({ algorithm, qoeLinear, trace: `t${i}`, group: `g${i}` })),
  );
  const closed = resultRows(testResults(sessions)).flatMap(({ algorithm, 'gap closed': gap }) =>
    gap === undefined ? [] : [[algorithm, gap]],
  );
  expect(Object.fromEntries(closed)).toMatchObject({ 'mpc-l': null, bola: [0.5, 0.5, 0.5], 'mpc-o': [1, 1, 1] });
});

test('the row of the baseline has its best rival, the lead over it, and the shortest tail of any', () => {
  const played = { 'mpc-l': [50, 3], 'mpc-l:no-rate': [60, 0], 'mpc-o': [70, 0], dynamic: [45, 2], bola: [44, 1] };
  const sessions = Object.entries(played).flatMap(([algorithm, [qoe, stallSeconds]]) =>
    Array.from({ length: 12 }, (_, i) =>
      testSession({ algorithm, qoeLinear: qoe! + i, stallSeconds: stallSeconds!, trace: `t${i}`, group: `g${i}` }),
    ),
  );
  const [own, ...others] = resultRows(testResults(sessions, { baseline: 'mpc-l' }));
  expect(own).toMatchObject({ algorithm: 'mpc-l', 'best rival': 'dynamic', 'difference to it': [2.5, 2.5, 2.5] });
  expect(own).toMatchObject({ 'its QoE': 50.5, 'its worst 5 %, s': 2, 'shortest worst 5 %, s': 1 });
  expect(others.every((row) => row['best rival'] === undefined)).toBe(true);
});

test('rows of live sessions have their QoE, latency and stalls', () => {
  const freezes = { stallCount: 9, freezeCount: 3, shortFreezeCount: 2 };
  const [row] = resultRows(testResults([testSession({ ...freezes, live: testLiveMetrics() })]));
  expect(row).toMatchObject({ QoE: 20, 'stalls / min': 1.5, 'below 0.1 s / min': 1, 'stall s / min': 0.5 });
  expect(row).toMatchObject({ 'latency, s': 1.25, 'latency p95, s': 1.5, 'off rate 1, %': 25 });
});

test('rows of households: means, sum and least over the players, and differences', () => {
  const of = (algorithm: string, qoes: number[]) =>
    qoes.map((qoeLinear, i) =>
      testSession({
        ...{ algorithm, qoeLinear, stallSeconds: i },
        household: { name: 'two', algorithm, player: i, joinSeconds: 0, linkUtilisation: 0.5 },
      }),
    );
  const sessions = [...of('mpc-d', [4, 6]), ...of('mpc-l', [7, 9])];
  const household = { name: 'two', players: [{ joinSeconds: 0 }, { joinSeconds: 0 }], traffic: [] };
  const rows = resultRows(testResults(sessions, { household }));
  expect(rows).toMatchObject([
    { household: 'two', players: 'all', algorithm: 'mpc-d', 'QoE, sum': 10, least: 4, 'sum, difference': null },
    { algorithm: 'mpc-l', perceived: 4, 'least perceived': 3.5, 'Mbit/s': 3, 'perceived, difference': [1.5] },
  ]);
});

test('rows of a sweep: medians over the links, and ratios to the default', () => {
  const row = (trace: string, flows: string, mbps: number): SweepRow =>
    ({
      ...{ dataset: 'set', trace, group: trace, startSeconds: 0, seed: 1, flows },
      result: { throughputBps: mbps * 1e6, rttSecondsP95: 0.05, lostShare: 0.01 },
    }) satisfies SweepRow;
  const rows = ['a', 'b', 'c'].flatMap((trace, i) => [
    row(trace, 'bbr2', 10 * (i + 1)),
    row(trace, 'cubic', 5 * (i + 1)),
  ]);
  const found = resultRows({ impairment: 'starlink', rows, tool: { seed: 1 } });
  const [, cubic] = found;
  expect(cubic).toMatchObject({ impairment: 'starlink', setting: 'cubic' });
  expect(cubic).toMatchObject({ 'throughput, Mbit/s': 10, 'p95 RTT, ms': 50 });
  expect(cubic!['throughput / bbr2']).toEqual(Array(3).fill(expect.closeTo(0.5, 9)));
  expect(resultTable(found).split('\n').slice(0, 3)).toEqual([
    'impairment  setting  throughput, Mbit/s  p95 RTT, ms    throughput / bbr2       p95 RTT / bbr2',
    'starlink    bbr2                  20.00        50.00  1.00 (1.00 to 1.00)  1.00 (1.00 to 1.00)',
    'starlink    cubic                 10.00        50.00  0.50 (0.50 to 0.50)  1.00 (1.00 to 1.00)',
  ]);
});
