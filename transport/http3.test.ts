/** HTTP/3 through the emulated link: downloads, the settings of BBRv2, and a session in the browser. */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { run } from '../cli/shared/run.fixture.ts';
import type { PlayedRecord } from '../replay/browser/record/session-record.ts';
import { runBench } from '../replay/browser/run-bench.ts';
import type { ResolvedScenario } from '../replay/results.ts';
import { SCENARIOS, type Scenario, segmentSizesBits } from '../replay/scenarios.ts';
import { traceOfRates } from '../replay/simulator/made-up.fixture.ts';
import { KernelLink } from './kernel-link.ts';
import { NO_IMPAIRMENT } from './kernel-steps.ts';
import { quicCongestion, quicTierObstacle, transportProgram } from './programs.ts';
import { download } from './sweep.ts';

/** The first test may have to build the program. */
const BUILD_MS = 30 * 60_000;
jest.setTimeout(120_000);

const obstacle = quicTierObstacle();
const where = obstacle === undefined ? describe : describe.skip;

const PAGE_DIRECTORY = fileURLToPath(new URL('../cli/dist/bench-page', import.meta.url));

const link = (bps: number, loss: number) => ({
  steps: [{ endSeconds: 600, bps, loss, extraDelaySeconds: 0 }],
  wrapSeconds: 600,
});

test.each(['vegas', 'cubic:loss=0.1', 'bbr2:', 'bbr2:loss=2', 'bbr2:probe-rtt=0'])(
  '%s is no setting',
  (name) => {
    expect(() => quicCongestion(name)).toThrow('--congestion: expected cubic, reno, bbr2 or bbr2:');
    if (obstacle !== undefined) return;
    const args = ['serve', '127.0.0.1:0', name, '127.0.0.1:1'];
    const { status, stderr } = spawnSync(transportProgram(), args, { encoding: 'utf8', timeout: 5000 });
    expect([status, stderr]).toEqual([1, expect.stringContaining('expected')]);
  },
  BUILD_MS,
);

where(`HTTP/3 and the emulated link${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`, () => {
  beforeAll(() => void transportProgram(), BUILD_MS);

  test.each(['cubic', 'reno', 'bbr2'])('%s fills a link without loss and does not exceed it', async (congestion) => {
    const options = { link: link(20e6, 0), seed: 1, rttSeconds: 0.04, seconds: 6 };
    const { result } = await download(congestion, options);
    expect(result.throughputBps).toBeLessThan(20e6);
    expect(result.throughputBps).toBeGreaterThan(15e6);
    expect(result.rttSecondsP95).toBeGreaterThan(0.04);
  });

  test('at 2 % of random loss a higher loss threshold brings more, and CUBIC least', async () => {
    const options = { link: link(40e6, 0.02), seed: 1, rttSeconds: 0.04, seconds: 8 };
    const throughput = async (congestion: string) => (await download(congestion, options)).result.throughputBps;
    const cubic = await throughput('cubic');
    const standard = await throughput('bbr2');
    const tuned = await throughput('bbr2:loss=0.2');
    expect(cubic).toBeLessThan(tuned / 2);
    expect(standard).toBeLessThan(tuned);
  });

  test('the interval of ProbeRTT is a setting', async () => {
    const dips = async (congestion: string) => {
      const options = { link: link(10e6, 0), seed: 1, rttSeconds: 0.04, seconds: 14 };
      const { samples } = await download(congestion, options);
      const later = samples.filter(({ seconds }) => seconds > 2);
      const usual = later.map(({ cwndBytes }) => cwndBytes).sort((a, b) => a - b)[later.length >> 1]!;
      return later.filter(
        ({ cwndBytes }, i) => cwndBytes < 0.6 * usual && (later[i - 1]?.cwndBytes ?? 0) >= 0.6 * usual,
      ).length;
    };
    const [standard, often] = [await dips('bbr2'), await dips('bbr2:probe-rtt=1000')];
    expect(standard).toBeLessThan(3);
    expect(often).toBeGreaterThan(standard + 2);
  });

  test('a sweep writes the same bytes for any number of jobs, and others for another seed', async () => {
    const sweep = async (...flags: string[]) => {
      const links = ['--traces', 'replay/traces/stationary-calm.csv', '--traces', 'replay/traces/driving-slow.csv'];
      const options = ['--scenario', 'hd-16', '--seconds', '2', '--flows', 'cubic', '--flows', 'bbr2', '--out', '-'];
      const { status, stdout, stderr } = await run(['transport', 'sweep', ...links, ...options, ...flags]);
      expect([status, stderr]).toEqual([0, expect.stringContaining('throughput / bbr2')]);
      return JSON.parse(stdout).rows;
    };
    const one = await sweep();
    expect(one).toHaveLength(4);
    expect(await sweep('--jobs', '2')).toEqual(one);
    expect(await sweep('--seed', '2')).not.toEqual(one);
  });

  test('a session in the browser: every segment came over h3', async () => {
    if (!existsSync(PAGE_DIRECTORY)) throw new Error(`${PAGE_DIRECTORY}: run npm run build:bench-page before`);
    const short: Scenario = { ...SCENARIOS['hd-16']!, segmentCount: 5, traceScale: { factor: 1 } };
    const scenario: ResolvedScenario = { ...short, segmentSizesBits: segmentSizesBits(short) };
    const trace = traceOfRates([30], 120, { startUtcMs: Date.UTC(2025, 5, 1) });
    const played: PlayedRecord[] = [];
    await runBench({
      sessions: [{ trace, startSeconds: 0, segmentCount: 5, algorithm: 'mpc-d', seed: 3 }],
      scenario,
      pageDirectory: PAGE_DIRECTORY,
      startLink: (played) =>
        KernelLink.start({ tier: 'quic', congestionControl: 'bbr2', impairment: NO_IMPAIRMENT }, played),
      onPlayed: (sessions) => void played.push(...sessions),
    });
    expect(played).toHaveLength(1);
    const [{ record, result, originLog, linkStatistics }] = played as [PlayedRecord];
    expect(result.endedBy).toBe('end');
    expect(record.protocols).toEqual({ h3: 5 });
    expect(originLog.filter(({ kind }) => kind === 'segment')).toHaveLength(5);
    const bits = record.requests.reduce((sum, { receivedBits }) => sum + receivedBits, 0);
    expect(linkStatistics!.bytes * 8).toBeGreaterThan(bits);
  });
});
