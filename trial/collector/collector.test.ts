import * as nodeFiles from 'node:fs/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import { temporaryFolder } from '../../replay/folder.fixture.ts';
import { type LogFields, NO_LOG } from '../../service/log.ts';
import { closedAfterTest } from '../../service/opened.fixture.ts';
import { SmallDisk } from '../../service/recording/small-disk.fixture.ts';
import { testReport } from '../session-report.fixture.ts';
import { type CollectorOptions, REPORTS_PATH, type RunningCollector, startCollector } from './collector.ts';

const FAST = { rate: { perSecond: 1e6, burst: 1e6 } };
const at = temporaryFolder('test');

let collector: RunningCollector;
async function start(more: Partial<CollectorOptions> = {}): Promise<string> {
  const options = { port: 0, directory: at(), maxBytes: 1e8, limits: FAST, ...more };
  collector = closedAfterTest(await startCollector(options));
  return `${collector.url}${REPORTS_PATH}`;
}

const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body, headers: { 'content-type': 'text/plain', ...headers } });
const idOf = (n: number) => n.toString(16).padStart(16, '0');
const lineOf = (n: number) => JSON.stringify(testReport({ id: idOf(n) }));
const clockOf = (utcMs: () => number) => ({ utcMs, monotonicMs: () => 0 });
const names = async () => (await nodeFiles.readdir(at())).sort();
async function stored(): Promise<string[]> {
  const texts = await Promise.all((await names()).map((name) => nodeFiles.readFile(at(name), 'utf8')));
  return texts.join('').split('\n').slice(0, -1);
}
const messageOf = async (response: Response) =>
  ((await response.json()) as { error: { message: string } }).error.message;

test('what was answered is in a file of the day, a report a line', async () => {
  const url = await start({ clock: clockOf(() => Date.UTC(2026, 0, 31, 23, 59)) });
  const answer = await post(url, lineOf(1));
  expect([answer.status, await answer.text()]).toEqual([204, '']);
  await post(url, `${lineOf(2)}\r\n\n${lineOf(3)}\n`, { 'content-type': 'application/x-ndjson' });
  const [name, ...others] = await names();
  expect([name, others]).toEqual([expect.stringMatching(/^reports-2026-01-31_[\w-]{36}\.ndjson$/), []]);
  expect(await stored()).toEqual([lineOf(1), lineOf(2), lineOf(3)]);
  expect(collector.accepted).toBe(3);
});

test('nothing of the request but the reports is kept', async () => {
  const log: string[] = [];
  const write = (fields: object, message: string) => void log.push(JSON.stringify(fields) + message);
  const url = await start({ log: { info: write, warn: write, error: write }, trustedProxies: ['127.0.0.1'] });
  const headers = { 'x-forwarded-for': '203.0.113.7', cookie: 'user=7', referer: 'https://page.example/7' };
  await post(url, lineOf(1), headers);
  await post(url, '{}', headers);
  await post(`${url}%ff?token=a-token-of-the-page`, lineOf(2), headers);
  expect(await stored()).toEqual([lineOf(1)]);
  expect(log).toHaveLength(2);
  expect(log.join()).toContain('a client is refused: line 1.version: expected a whole number from 1');
  expect(log.join()).toContain('got "POST /v1/reports%ff"');
  expect(log.join()).not.toMatch(/203\.0\.113\.7|a-token-of-the-page/);
});

test('a body that is too long, of another type or no report is refused with the reason, as a whole', async () => {
  const url = await start();
  expect((await post(url, lineOf(1).repeat(100))).status).toBe(413);
  const ofForm = await post(url, lineOf(1), { 'content-type': 'multipart/form-data' });
  expect([ofForm.status, await messageOf(ofForm)]).toEqual([
    415,
    'Content-Type: expected text/plain or application/json or application/x-ndjson, got "multipart/form-data"',
  ]);
  const own = `{"__proto__":{"version":1},${lineOf(1).slice(1)}`;
  for (const body of ['', '{', own, `${lineOf(1)}\n{`, `${lineOf(1)}\n${'['.repeat(4000)}`]) {
    const refused = await post(url, body);
    expect([refused.status, await messageOf(refused)]).toEqual([400, expect.stringMatching(/expected .+?, got .+/)]);
  }
  expect((await fetch(url)).status).toBe(404);
  expect(await names()).toEqual([]);
});

test('a report needs the token, in the header or the query, and a page of another origin that is allowed', async () => {
  const [token, origin] = ['a-token-of-the-page', 'https://page.example'];
  const url = await start({ token, allowedOrigins: [origin] });
  const asked = `${url}?token=${token}`;
  const answers = await Promise.all([
    post(url, lineOf(1)),
    post(`${url}?token=wrong-token-of-the-page`, lineOf(1)),
    post(asked, lineOf(1), { origin: 'https://other.example' }),
    post(url, lineOf(2), { authorization: `Bearer ${token}` }),
    post(asked, lineOf(3), { origin }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 403, 204, 204]);
  const allowed = answers.map(({ headers }) => headers.get('access-control-allow-origin'));
  expect(allowed.slice(2)).toEqual([null, null, origin]);
  expect((await stored()).sort()).toEqual([lineOf(2), lineOf(3)]);
});

test('the folder has a limit, which another start knows; files that are moved away make room', async () => {
  let nowMs = 0;
  const clock = { utcMs: () => Date.UTC(2026, 0, 31), monotonicMs: () => nowMs };
  const maxBytes = 2.5 * (lineOf(1).length + 1);
  const url = await start({ maxBytes, clock });
  const statuses = [1, 2, 3].map(async (n) => (await post(url, lineOf(n))).status);
  expect((await Promise.all(statuses)).sort()).toEqual([204, 204, 507]);
  const second = await start({ maxBytes, clock });
  expect(await messageOf(await post(second, lineOf(4)))).toMatch(/^expected less than .* MB in the folder/);
  for (const name of await names()) await nodeFiles.rm(at(name));
  // A refusal does not measure the folder each time.
  expect((await post(second, lineOf(5))).status).toBe(507);
  nowMs = 20_000;
  expect((await post(second, lineOf(5))).status).toBe(204);
});

test('a full disk or folder is seen in the health, the log and the metrics, until there is room again', async () => {
  let nowMs = 0;
  const files = new SmallDisk(1e6);
  const errors: unknown[] = [];
  const error = (fields: LogFields, message: string) => void errors.push([fields['code'], message]);
  const clock = { utcMs: () => Date.UTC(2026, 0, 31), monotonicMs: () => nowMs };
  const maxBytes = 2.5 * (lineOf(1).length + 1);
  const url = await start({ files, clock, maxBytes, log: { ...NO_LOG, error } });
  const get = async (path: string) => {
    const response = await fetch(new URL(path, url));
    return [response.status, await response.text()] as const;
  };
  const health = async () => {
    nowMs += 10_000;
    return get('/healthz');
  };
  expect(await get('/healthz')).toEqual([200, 'ok\n']);
  await post(url, lineOf(1));
  // The disk takes a part of a report.
  files.room = 50;
  // Without a report, too: a probe finds it.
  expect(await health()).toEqual([503, 'the disk did not take it: ENOSPC: no space left\n']);
  expect((await post(url, lineOf(2))).status).toBe(503);
  expect((await get('/metrics'))[1]).toMatch(
    /^leo_abr_reports_total 1$[\s\S]*^leo_abr_reports_writable 0$[\s\S]*^leo_abr_refusals_total{code="not-written"} 1$/m,
  );
  files.room = 1e6;
  expect(await health()).toEqual([200, 'ok\n']);
  await post(url, lineOf(2));
  expect(await stored()).toEqual([lineOf(1), lineOf(2)]);
  expect(await names()).toHaveLength(1);
  expect((await post(url, lineOf(3))).status).toBe(507);
  expect((await get('/healthz'))[0]).toBe(503);
  for (const name of await names()) await nodeFiles.rm(at(name));
  expect(await health()).toEqual([200, 'ok\n']);
  expect((await get('/metrics'))[1]).toMatch(/^leo_abr_reports_writable 1$/m);
  expect(errors).toEqual([
    ['not-written', 'reports are refused: the disk did not take it: ENOSPC: no space left'],
    ['full', expect.stringMatching(/^reports are refused: expected less than .* MB in the folder of reports/)],
  ]);
});

test('a folder that is gone is named to nobody by its path', async () => {
  const url = await start();
  await nodeFiles.rm(at(), { recursive: true });
  const refused = await post(url, lineOf(1));
  expect(refused.status).toBe(503);
  expect(await messageOf(refused)).toMatch(
    /^the disk did not take it: ENOENT: no such file or directory, scandir '[^/]+'$/,
  );
  await nodeFiles.mkdir(at());
  expect((await post(url, lineOf(1))).status).toBe(204);
});

test('each day and each collector has files of its own, beside a link to nothing in the folder', async () => {
  await nodeFiles.symlink('gone', at('reports-2026-01-01_a.ndjson'));
  let day = 1;
  const clock = clockOf(() => Date.UTC(2026, 1, day));
  const urls = [await start({ clock }), await start({ clock })];
  const postAll = (from: number) => Promise.all(urls.map((url, i) => post(url, lineOf(from + i))));
  await postAll(1);
  day = 2;
  await postAll(3);
  await nodeFiles.rm(at('reports-2026-01-01_a.ndjson'));
  const days = (await names()).map((name) => name.slice(0, 18));
  expect(days).toEqual(['01', '01', '02', '02'].map((of) => `reports-2026-02-${of}`));
  expect((await stored()).sort()).toEqual([1, 2, 3, 4].map(lineOf));
});

test('a folder that cannot be one is refused, and a port that is taken leaves no timer', async () => {
  await start();
  const timer = jest.spyOn(globalThis, 'setInterval').mockClear();
  const port = Number(new URL(collector.url).port);
  await expect(start({ port, keepDays: 1 })).rejects.toThrow('EADDRINUSE');
  expect(timer.mock.calls.filter(([, ms]) => ms === 86_400_000)).toEqual([]);
  timer.mockRestore();
  await nodeFiles.writeFile(at('file'), '');
  await expect(start({ directory: at('file') })).rejects.toThrow('a folder that can be written to');
});

const fileOf = (date: string) => `reports-${date}_a.ndjson`;
const dates = ['2025-12-31', '2026-01-01', '2026-01-02', '2026-01-03'];

afterEach(() => {
  jest.useRealTimers();
});

test('with keepDays, older reports are deleted at the start, and once a day; other files stay', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'setTimeout', 'performance'] });
  for (const name of [...dates.map(fileOf), 'reports-notes.ndjson', 'other-2025-01-01.ndjson']) {
    await nodeFiles.writeFile(at(name), lineOf(1));
  }
  let day = 400;
  const clock = clockOf(() => Date.UTC(2026, 0, day));
  // By default, all reports stay.
  await start({ clock });
  expect(await names()).toHaveLength(dates.length + 2);
  day = 31;
  await start({ keepDays: 30, clock });
  const kept = ['other-2025-01-01.ndjson', ...dates.slice(1).map(fileOf), 'reports-notes.ndjson'];
  expect(await names()).toEqual(kept);
  day = 33;
  jest.advanceTimersByTime(86_400_000);
  while ((await names()).length > 3) await new Promise((resolve) => setImmediate(resolve));
  expect(await names()).toEqual([kept[0], fileOf(dates[3]!), kept.at(-1)]);
});
