/** The flags of `leo-abr transport`, and its report; `npm run test:transport` has the downloads. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { SweepFile } from '../transport/sweep-ratios.ts';
import { DEFAULT_FLOWS, parseFlows, type SweepRow } from '../transport/sweep-ratios.ts';
import { run } from './run.fixture.ts';

const TRACE = 'replay/traces/stationary-typical.csv';
const folder = mkdtempSync(join(tmpdir(), 'leo-abr-transport-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const transport = (...args: string[]) => run(['transport', ...args]);

/** Throughput rises with the loss threshold, alike on three links; `change` applies to the file. */
function sweepFile(name: string, change: Partial<SweepFile> = {}): string {
  const rows = [0, 1, 2].flatMap((link) =>
    DEFAULT_FLOWS.map((flows): SweepRow => {
      const loss = Number(/loss=([\d.]+)/.exec(flows)?.[1] ?? 0.015);
      const results = parseFlows(flows).map(({ congestion }) => ({
        throughputBps: congestion === 'cubic' ? 3e6 : 10e6 * (1 + 10 * loss) * (1 + link),
        ...{ rttSecondsMedian: 0.04, rttSecondsP95: 0.05 * (1 + loss), lostShare: 0.01 },
      }));
      return { dataset: 'd', trace: `t${link}`, group: `g${link}`, startSeconds: 0, seed: link, flows, results };
    }),
  );
  const tool = { name: 'leo-abr', version: '0', commit: null, command: 'transport sweep', seed: 1 } as const;
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify({ tool, scenario: 'hd-16', impairment: 'none', seconds: 20, rows, ...change }));
  return file;
}

describe('leo-abr transport sweep', () => {
  const base = ['sweep', '--traces', TRACE, '--scenario', 'hd-16', '--out', join(folder, 'out.json')];

  test.each([
    [['--flows', 'bbr3'], '--flows: expected cubic, reno, bbr2 or bbr2:'],
    [['--flows', '0*bbr2'], '--flows: expected cubic, reno, bbr2 or bbr2:'],
    [['--seconds', '1'], '--seconds: expected seconds above 1, got "1"'],
    [
      ['--impairment', 'rain'],
      '--impairment: expected one of starlink, none, or such as starlink,loss=0.02, got "rain"',
    ],
    [['--shard', '3/2'], '--shard: expected i/n with 1 <= i <= n, got "3/2"'],
    [['--out', tmpdir()], '--out: expected a file that can be written'],
  ])('%s is wrong input', async (flags, message) => {
    const { status, stderr } = await transport(...base, ...flags);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });
});

describe('leo-abr transport report', () => {
  test('writes the heat maps, the choice for links left out and the shares', async () => {
    const out = join(folder, 'report');
    const { status, stderr } = await transport('report', sweepFile('a.json'), '--out', out);
    expect([status, stderr]).toEqual([0, '']);
    const page = readFileSync(join(out, 'index.html'), 'utf8');
    // (1 + 10 x 0.16) / (1 + 10 x 0.015), and 1.08 / 1.015.
    for (const text of ['2.26', '1.06', '10 s']) expect(page).toContain(text);
    expect(page.match(/<svg/g)).toHaveLength(2);
    const markdown = readFileSync(join(out, 'report.md'), 'utf8');
    expect(markdown).toContain('`bbr2:probe-rtt=1000,loss=0.08` 3');
    // CUBIC's 3 Mbit/s against 11.5, 23 and 34.5.
    expect(markdown).toMatch(/8\*cubic\+8\*bbr2 .*0\.13/);
  });

  test('joins files of the same links only', async () => {
    const other = sweepFile('b.json', { seconds: 10 });
    const { status, stderr } = await transport('report', sweepFile('a.json'), other, '--out', join(folder, 'none'));
    expect(status).toBe(2);
    expect(stderr).toContain('b.json: seconds: expected 20, got 10');
  });
});
