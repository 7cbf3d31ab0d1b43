import { beforeEach, expect, jest, test } from '@jest/globals';
import { broken, wait } from '../../session/scripted.fixture.ts';
import type { ReportOptions } from '../index.ts';
import { validSessionReport } from '../session-report.ts';
import { define, items, observe, PLAIN, play, playSession, settled, usePage } from './page.fixture.ts';

usePage();

const URL = 'https://reports.example/';

/** `answer` is the status of the collector, or undefined for none. */
let answer: number | undefined;
let sent: { url: string; init: RequestInit }[];
let page: EventTarget & { visibilityState: string };

beforeEach(() => {
  answer = 204;
  sent = [];
  page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  define('document', page);
  define('addEventListener', page.addEventListener.bind(page));
  define('removeEventListener', page.removeEventListener.bind(page));
  define('navigator', { userAgent: 'Mozilla/5.0 Chrome/140.0.0.0 Safari/537.36', onLine: true });
  define('Request', { prototype: { keepalive: true } });
  define('fetch', async (url: string, init: RequestInit) => {
    sent.push({ url, init });
    if (answer === undefined) throw new TypeError('Failed to fetch');
    return { ok: answer < 300, status: answer };
  });
});

/** A visit to the page; what plays there is reported. */
const visit = (more: ReportOptions = {}) => observe(PLAIN['dash.js']!, { report: URL, ...more });

function played(more?: ReportOptions) {
  const visited = visit(more);
  playSession(visited.plain);
  return visited;
}

const hide = (visibilityState: string) => {
  page.visibilityState = visibilityState;
  page.dispatchEvent(new Event('visibilitychange'));
};
const bodies = () => sent.map(({ init }) => validSessionReport(JSON.parse(init.body as string)));

test('a report is one line of JSON in a request without cookies that outlives the page', async () => {
  const { seen } = played();
  page.dispatchEvent(new Event('pagehide'));
  await settled();
  expect(bodies()).toEqual(seen);
  expect(seen[0]).toMatchObject({ ended: 'page', browser: 'chromium' });
  const { url, init } = sent[0]!;
  expect(url).toBe(URL);
  expect(init.body).not.toContain('\n');
  expect(init).toMatchObject({ method: 'POST', keepalive: true, credentials: 'omit' });
  expect(init.headers).toEqual({ 'content-type': 'text/plain' });
  expect(items.size).toBe(0);
});

test.each([undefined, 500, 429, 400])(
  'answered %p, a report is sent twice, or once if it is refused',
  async (status) => {
    const times = status === 400 ? 1 : 2;
    answer = status;
    const { plain, seen } = played();
    plain.end();
    await settled();
    expect(items.size).toBe(times - 1);
    for (let later = 0; later < 2; later++) {
      visit();
      await settled();
      expect(bodies()).toEqual(Array(times).fill(seen[0]));
      expect(items.size).toBe(0);
    }
  },
);

test('without a network, nothing is sent before the next visit; the newest eight reports are kept', async () => {
  Object.assign(navigator, { onLine: false });
  const { plain, seen } = visit();
  for (let i = 0; i < 12; i++) {
    playSession(plain);
    plain.end();
  }
  await settled();
  expect([seen.length, sent.length]).toEqual([12, 0]);
  visit();
  await settled();
  expect(bodies()).toEqual(seen.slice(-8));
});

test('where requests do not outlive the page, a beacon has the report', () => {
  const beacons: string[] = [];
  define('Request', { prototype: {} });
  Object.assign(navigator, { sendBeacon: (url: string, body: string) => beacons.push(`${url} ${body}`) > 0 });
  const { seen } = played();
  page.dispatchEvent(new Event('pagehide'));
  expect(beacons).toEqual([`${URL} ${JSON.stringify(seen[0])}`]);
  expect(sent).toEqual([]);
});

test('a page that is hidden and does not come back is reported at the next visit', async () => {
  const { plain, seen } = played();
  hide('hidden');
  expect(items.size).toBe(1);
  visit();
  await settled();
  // It may still be there.
  expect(sent).toEqual([]);
  wait(700);
  visit();
  await settled();
  expect(bodies()).toMatchObject([{ ended: 'page', stallCount: 1 }]);
  // It was, after all: the same report, of which analyses count one.
  plain.end();
  await settled();
  expect(new Set(bodies().map(({ id }) => id))).toEqual(new Set([seen[0]!.id]));
  expect(sent).toHaveLength(2);
});

test('a page that comes back is reported once, at its end', async () => {
  const { seen } = played();
  hide('hidden');
  hide('visible');
  expect(items.size).toBe(0);
  hide('hidden');
  page.dispatchEvent(new Event('pagehide'));
  await settled();
  expect(items.size).toBe(0);
  expect(bodies()).toEqual(seen);
  expect(seen).toHaveLength(1);
});

test('a page that comes back from the cache of pages begins another session', async () => {
  const { plain, seen } = played();
  page.dispatchEvent(new Event('pagehide'));
  page.dispatchEvent(new Event('pageshow'));
  play(plain.player, 3);
  page.dispatchEvent(new Event('pagehide'));
  await settled();
  expect(seen.map(({ watchedSeconds }) => Math.round(watchedSeconds))).toEqual([8, 3]);
  expect(bodies()).toEqual(seen);
});

test('a storage that is blocked or full of something else keeps nothing, and breaks nothing', async () => {
  items.set('leo-abr-reports', '{"a": [null, 1]}');
  answer = undefined;
  const { plain } = visit();
  define('localStorage', undefined);
  playSession(plain);
  hide('hidden');
  plain.end();
  await settled();
  expect(sent).toHaveLength(1);
});

test('with storage: false, nothing is kept or read; reports are sent all the same', async () => {
  const calls = ['getItem', 'setItem', 'removeItem'].map((name) => [name, jest.fn(broken)] as const);
  define('localStorage', Object.fromEntries(calls));
  for (const status of [204, undefined]) {
    answer = status;
    const { reports } = played({ storage: false });
    hide('hidden');
    hide('visible');
    reports.stop();
    await settled();
  }
  expect(sent).toHaveLength(2);
  for (const [, call] of calls) expect(call).not.toHaveBeenCalled();
});
