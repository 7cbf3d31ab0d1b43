import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { testReport } from '../abr/session-report.fixture.ts';
import { run } from './run.fixture.ts';
import { runListening } from './serve-run.fixture.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leo-abr-collect-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('collects until it is interrupted, and says how many reports it has', async () => {
  const out = join(folder, 'reports');
  const token = join(folder, 'token');
  writeFileSync(token, 'a-token-of-the-page\n');
  const flags = ['--port', '0', '--token-file', token, '--allow-origin', 'https://page.example', '--rate', '100'];
  const body = `${JSON.stringify(testReport())}\n`;
  const { status, stderr } = await runListening(['collect', '--out', out, ...flags], async (url) => {
    const headers = { origin: 'https://page.example', 'content-type': 'text/plain' };
    const post = (query: string) => fetch(`${url}${query}`, { method: 'POST', body, headers });
    expect((await post('?token=a-token-of-the-page')).status).toBe(204);
    expect((await post('')).status).toBe(401);
  });
  expect(status).toBe(0);
  expect(stderr).toContain(`1 reports are in ${out}`);
  const [name, ...others] = readdirSync(out);
  expect(others).toEqual([]);
  expect(readFileSync(join(out, name!), 'utf8')).toBe(body);
});

test.each([
  [['--out', 'x', '--rate', '0'], '--rate: expected a number above 0, got "0"'],
  [['--out', 'x', '--max-mb', '-1'], '--max-mb: expected a number above 0'],
  [['--out', 'x', '--allow-origin', 'page.example'], '--allow-origin: expected an origin'],
  [[], "required option '--out <folder>' not specified"],
])('%j is refused', async (flags, message) => {
  const { status, stderr } = await run(['collect', ...flags]);
  expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
});
