/** The origin as a handler of web requests, on a manual clock. */

import { expect, test } from '@jest/globals';
import { SCENARIOS, type Scenario } from '../scenarios.ts';
import { EXACT, traceOfRates } from '../simulator/made-up.fixture.ts';
import { Origin } from './origin.ts';
import { VirtualClock } from './virtual-clock.fixture.ts';

const trace = traceOfRates([8], 60);
const scenario: Scenario = { ...SCENARIOS['pensieve-60']!, ...EXACT, rttSeconds: 0.05, segmentCount: 4 };
const HOST = 'http://localhost';

function openOrigin(folder?: string) {
  const clock = new VirtualClock();
  const origin = new Origin({ traces: [trace], scenarios: { short: scenario }, clock, ...(folder && { folder }) });
  const get = (path: string, init?: RequestInit) => origin.fetch(new Request(HOST + path, init));
  return { clock, origin, get };
}

test('lies below its folder', async () => {
  const { origin, get } = openOrigin('/demo/');
  const owned = ['/demo/session', '/demo/session/1/time', '/demo/traces', '/session', '/demo/', '/demo/traces/1'];
  expect(owned.map((path) => origin.owns(path))).toEqual([true, true, true, false, false, false]);
  const body = JSON.stringify({ trace: 'made up', scenario: 'short' });
  const created = await get('/demo/session', { method: 'POST', body });
  const addresses = (await created.json()) as { manifest: string; hls: string };
  const folder = '/demo/session/1';
  expect(addresses).toEqual({ id: '1', manifest: `${folder}/manifest.mpd`, hls: `${folder}/master.m3u8` });
  expect((await get(addresses.manifest)).status).toBe(200);
  expect((await get('/session/1/manifest.mpd')).status).toBe(404);
});

test('a slow reader holds nothing back but its own bytes', async () => {
  const { clock, origin, get } = openOrigin();
  const { id } = origin.createSession({ trace, scenario });
  const answer = get(`/session/${id}/video-5/1.m4s`);
  await clock.play();
  const { log } = origin.session(id)!;
  const reader = (await answer).body!.getReader();
  const { value } = await reader.read();
  expect([log[0]!.outcome, log[0]!.sentBytes]).toEqual(['active', 0]);
  await reader.read();
  expect(log[0]!.sentBytes).toBe(value!.length);
});

test('an aborted request and a cancelled body free the link', async () => {
  const { clock, origin, get } = openOrigin();
  const { id } = origin.createSession({ trace, scenario });
  const session = origin.session(id)!;
  const abort = new AbortController();
  const early = get(`/session/${id}/video-5/1.m4s`, { signal: abort.signal });
  abort.abort(new Error('enough'));
  await expect(early).rejects.toThrow('enough');
  const late = get(`/session/${id}/video-5/2.m4s`);
  clock.run(clock.nowMs() + 100);
  await (await late).body!.cancel();
  expect(session.log.map(({ outcome }) => outcome)).toEqual(['aborted', 'aborted']);
  expect(session.isActive).toBe(false);
  clock.run();
  expect(clock.pending).toBe(0);
});
