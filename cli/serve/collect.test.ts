import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { testReport } from '../../abr/qoe/session-report.fixture.ts';
import { temporaryFolder } from '../../replay/folder.fixture.ts';
import { refused, run, runListening } from '../shared/run.fixture.ts';

const at = temporaryFolder('test');

test('collects until it is interrupted, and says how many reports it has', async () => {
  const out = at('reports');
  const token = at('token');
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
  expect(readFileSync(at('reports', name!), 'utf8')).toBe(body);
});

test.each([
  [['--out', 'x', '--rate', '0'], '--rate: expected a number above 0, got "0"'],
  [['--out', 'x', '--keep-days', '0'], '--keep-days: expected a number above 0'],
  [['--out', 'x', '--max-mb', '-1'], '--max-mb: expected a number above 0'],
  [['--out', 'x', '--allow-origin', 'page.example'], '--allow-origin: expected an origin'],
  [[], "required option '--out <folder>' not specified"],
])('%j is refused', (flags, message) => refused(run(['collect', ...flags]), message));
