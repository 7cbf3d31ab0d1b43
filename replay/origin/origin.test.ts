import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { SCENARIOS, type Scenario, segmentSizesBits } from '../scenarios.ts';
import { sendRaw } from '../serving.fixture.ts';
import { EXACT, traceOfRates, traceUntil } from '../simulator/made-up.fixture.ts';
import { type RunningOrigin, startOrigin } from './node/server.ts';
import { Origin } from './origin.ts';
import type { RequestLogEntry } from './session.ts';
import { VirtualClock } from './virtual-clock.fixture.ts';

/** So fast that no test waits for it. */
const trace = { ...traceOfRates([4000, 2000], 30, { startUtcMs: Date.UTC(2025, 5, 1, 12, 0, 12) }), name: 'fast' };
const dead = traceUntil([
  { until: 1e-6, mbps: 1000 },
  { until: 1e6, mbps: 0 },
]);
const link = { rttSeconds: 0.001, traceScale: { factor: 1 } };
const scenario: Scenario = { ...SCENARIOS['pensieve-60']!, ...link, segmentCount: 4 };

let origin: RunningOrigin;
beforeAll(async () => {
  origin = await startOrigin({ traces: [trace], scenarios: { short: scenario } });
});
afterAll(() => origin.close());

const own: RunningOrigin[] = [];
afterEach(async () => {
  for (const one of own.splice(0)) await one.close();
});
async function started(...options: Parameters<typeof startOrigin>): Promise<RunningOrigin> {
  own.push(await startOrigin(...options));
  return own.at(-1)!;
}

const at = (id: string, path: string) => `${origin.url}/session/${id}/${path}`;
const bytesAt = async (id: string, path: string) => Buffer.from(await (await fetch(at(id, path))).arrayBuffer());
const textAt = async (id: string, path: string) => (await fetch(at(id, path))).text();
const soon = () => new Promise(setImmediate);
const open = (spec = {}) => origin.createSession({ trace, scenario, startSeconds: 5, ...spec }).id;
const log = async (id: string): Promise<RequestLogEntry[]> => JSON.parse(await textAt(id, 'log'));

test('stream.mpd and stream.m3u8 each start a session of their own, by the query or with the first trace and scenario', async () => {
  const ask = (path: string) => fetch(`${origin.url}/${path}`);
  const [dash, hls, other] = [
    await ask('stream.mpd'),
    await ask('stream.m3u8?CMCD=x'),
    await ask('stream.mpd?trace=fast&scenario=short&startSeconds=3'),
  ];
  expect(await dash.text()).toContain('<Representation id="video-5" bandwidth="4300000"');
  expect(await hls.text()).toMatch(/^#EXTM3U/);
  const paths = [dash, hls, other].map(({ url }) => new URL(url).pathname);
  const id = Number(paths[0]!.split('/')[2]);
  const files = ['manifest.mpd', 'master.m3u8', 'manifest.mpd'];
  expect(paths).toEqual(files.map((file, i) => `/session/${id + i}/${file}`));
  expect(origin.session(String(id + 2))!.spec.startSeconds).toBe(3);
  expect([
    (await ask('stream.mpd?trace=none')).status,
    (await fetch(`${origin.url}/stream.mpd`, { method: 'POST' })).status,
  ]).toEqual([400, 405]);
});

test('unpaced, it delivers at once whatever the trace', async () => {
  const id = open({ trace: dead, startSeconds: 1, pacing: 'none' });
  await bytesAt(id, 'video-0/init.mp4');
  for (const number of [1, 2]) {
    expect(await bytesAt(id, `video-5/${number}.m4s`)).toHaveLength(segmentSizesBits(scenario)[number - 1]![5]! / 8);
  }
  const entries = await log(id);
  expect(entries.map(({ outcome }) => outcome)).toEqual(Array(3).fill('complete'));
  expect(entries.filter(({ prescribedEndSeconds }) => prescribedEndSeconds !== undefined)).toEqual([]);
});

test('serves every segment with exactly the prescribed size; UTC starts with the first of them', async () => {
  const id = open();
  expect(await textAt(id, 'manifest.mpd')).toContain('<Representation id="video-5" bandwidth="4300000"');
  const sizes = segmentSizesBits(scenario);
  const published: { representations: Record<string, number[]> } = JSON.parse(await textAt(id, 'sizes.json'));
  const elapsedMs = async () => Number(await textAt(id, 'time')) - trace.metadata.startUtcMs!;
  await bytesAt(id, 'video-0/init.mp4');
  expect([await elapsedMs(), origin.session(id)!.nowSeconds]).toEqual([5000, 0]);
  const requested = Object.entries({ 'video-0': 0, 'video-5': 3, 'video-1': 2 });
  const traceSeconds: number[] = [];
  for (const [representation, segment] of requested) {
    const response = await fetch(at(id, `${representation}/${segment + 1}.m4s`));
    const bytes = (await response.arrayBuffer()).byteLength;
    expect(bytes).toBe(sizes[segment]![Number(representation.at(-1))]! / 8);
    expect(bytes).toBe(published.representations[representation]![segment]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      ...{ 'content-type': 'video/mp4', 'cache-control': 'no-store', 'access-control-allow-origin': '*' },
      ...{ 'timing-allow-origin': '*', 'access-control-expose-headers': expect.stringContaining('x-trace-seconds') },
    });
    traceSeconds.push(Number(response.headers.get('x-trace-seconds')));
  }
  expect(traceSeconds[0]).toBe(5);
  expect(await elapsedMs()).toBeGreaterThan(5000);
  const [init, ...entries] = await log(id);
  expect(init).toMatchObject({ kind: 'init', outcome: 'complete', requestedAtSeconds: 0 });
  expect(entries).toMatchObject(
    requested.map(([representationId, segmentIndex]) => {
      return { kind: 'segment', segmentIndex, representationId, outcome: 'complete' };
    }),
  );
  expect(entries[0]!.requestedAtSeconds).toBe(0);
  expect(entries.every((entry) => entry.bytes === entry.sentBytes)).toBe(true);
});

test('ranges of a single file; HEAD is neither paced nor logged', async () => {
  const id = open({ media: { addressing: 'base' } });
  const url = at(id, 'video-2.mp4');
  const head = await fetch(url, { method: 'HEAD' });
  const length = Number(head.headers.get('content-length'));
  expect([head.status, length > 0, origin.session(id)!.log.length]).toEqual([200, true, 0]);

  const get = async (range: string) => {
    const response = await fetch(url, { headers: { range } });
    const { status, headers } = response;
    return { status, range: headers.get('content-range'), bytes: new Uint8Array(await response.arrayBuffer()) };
  };
  const whole = await get('bytes=nonsense');
  expect([whole.status, whole.bytes.length]).toEqual([200, length]);
  const part = await get('bytes=100-899');
  expect([part.status, part.range]).toEqual([206, `bytes 100-899/${length}`]);
  expect(part.bytes).toEqual(whole.bytes.slice(100, 900));
  expect((await get(`bytes=${length - 5}-`)).bytes).toEqual(whole.bytes.slice(-5));
  expect((await get('bytes=-7')).bytes).toEqual(whole.bytes.slice(-7));
  const outside = await get(`bytes=${length}-`);
  expect([outside.status, outside.range]).toEqual([416, `bytes */${length}`]);
});

test('a client that disconnects, with pipelined requests, frees the link and is logged as aborted', async () => {
  const id = open({ trace: dead, startSeconds: 1 });
  const socket = connect(origin.port, '127.0.0.1');
  socket.write(`GET /session/${id}/video-5/1.m4s HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(3));
  while ((await log(id)).length < 3) await soon();
  expect(origin.session(id)!.isActive).toBe(true);
  socket.resetAndDestroy();
  while ((await log(id)).some(({ outcome }) => outcome === 'active')) await soon();
  expect((await log(id)).map(({ outcome }) => outcome)).toEqual(Array(3).fill('aborted'));
  expect(origin.session(id)!.isActive).toBe(false);
});

test('sessions can be created over HTTP, and deleted', async () => {
  const create = (body: string) => fetch(`${origin.url}/session`, { method: 'POST', body });
  const spec = { trace: 'fast', scenario: 'short', startSeconds: 2 };
  const response = await create(JSON.stringify(spec));
  expect(response.status).toBe(201);
  const { id, manifest, hls } = (await response.json()) as { id: string; manifest: string; hls: string };
  const playlist = await fetch(origin.url + hls);
  expect(playlist.headers.get('content-type')).toBe('application/vnd.apple.mpegurl; charset=utf-8');
  expect(await playlist.text()).toContain('RESOLUTION=64x36');
  expect(origin.session(id)!.nowSeconds).toBe(0);
  expect(await (await fetch(origin.url + manifest)).text()).toContain('<MPD');
  expect(await (await fetch(`${origin.url}/traces`)).json()).toEqual([
    { name: 'fast', dataset: 'test', recordingGroup: 'test', durationSeconds: 60, hasClock: true },
  ]);
  const steps = { stepEndsSeconds: [30, 60], ratesBps: [3.8e9, 1.9e9] };
  const { startUtcMs: traceStartUtcMs } = trace.metadata;
  const link = { ...steps, rttSeconds: 0.001, startSeconds: 2, traceStartUtcMs };
  expect(JSON.parse(await textAt(id, 'link'))).toEqual(link);
  expect((await fetch(`${origin.url}/session/${id}`, { method: 'DELETE' })).status).toBe(204);
  expect((await fetch(at(id, 'manifest.mpd'))).status).toBe(404);
});

test('with `acceptTraces` a page can upload a trace and play it', async () => {
  const post = (url: string, body: unknown) => fetch(`${url}/traces`, { method: 'POST', body: JSON.stringify(body) });
  const text = 'time_s,throughput_mbps\n0,100\n1,200\n2,\n3,300\n4,300\n';
  expect((await post(origin.url, { file: 'mine.csv', text })).status).toBe(405);

  const open = await started({ traces: [trace], scenarios: { short: scenario }, acceptTraces: true });
  const sidecar = '{"dataset": "roof", "epoch_phase_s": 12}';
  const response = await post(open.url, { file: 'mine.csv', text, sidecar });
  expect(response.status).toBe(201);
  const parts = await response.json();
  expect(parts).toMatchObject(['mine#1', 'mine#2'].map((name) => ({ name, dataset: 'roof', hasClock: true })));
  const listed = (await (await fetch(`${open.url}/traces`)).json()) as { name: string }[];
  expect(listed.map(({ name }) => name)).toEqual(['fast', 'mine#1', 'mine#2']);
  const body = JSON.stringify({ trace: 'mine#2', scenario: 'short' });
  expect((await fetch(`${open.url}/session`, { method: 'POST', body })).status).toBe(201);

  const refused = async (upload: unknown) => {
    const refusal = await post(open.url, upload);
    return [refusal.status, ((await refusal.json()) as { error: string }).error];
  };
  const rate = 'expected a rate in Mbit/s, 0 to 1e6 (blank = unknown), got "-1"';
  for (const [file, rows, ...refusal] of [
    ['fast.csv', '0,1\n1,1', 409, 'the origin has another trace "fast"'],
    ['bad.csv', '0,-1', 400, `bad.csv:2: throughput_mbps: ${rate}`],
    ['dead.csv', '0,0\n1,0', 400, 'dead.csv: expected at least one rate above 0, got zeros only'],
  ]) {
    expect(await refused({ file, text: `time_s,throughput_mbps\n${rows}\n` })).toEqual(refusal);
  }
  expect(await refused({ text })).toEqual([400, 'file: expected the name of a file, got undefined']);
  // The oldest uploads go.
  for (let i = 0; i < 51; i++) await post(open.url, { file: `t${i}.csv`, text: 'time_s,throughput_mbps\n0,1\n1,1\n' });
  const kept = ((await (await fetch(`${open.url}/traces`)).json()) as { name: string }[]).map(({ name }) => name);
  expect([kept.length, kept[0], kept[1], kept.at(-1)]).toEqual([51, 'fast', 't1', 't50']);
});

test('refuses invalid requests with a status and a reason', async () => {
  const id = open();
  const refused = async (path: string, init?: RequestInit) => {
    const response = await fetch(origin.url + path, init);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    return [response.status, ((await response.json()) as { error: string }).error];
  };
  expect(await refused('/session/none/time')).toEqual([404, 'no session "none"']);
  expect(await refused(`/session/${id}/video-6/1.m4s`)).toEqual([404, `no "video-6/1.m4s" in session ${id}`]);
  expect(await refused('/elsewhere')).toEqual([404, 'nothing at /elsewhere']);
  expect(await refused(`/session/${id}/time`, { method: 'PUT' })).toEqual([405, 'expected GET or HEAD, got PUT']);
  const post = (body: unknown) =>
    refused('/session', { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });
  const valid = { trace: 'fast', scenario: 'short' };
  const start = 'startSeconds: expected a number from 0 to 1000000000, got';
  for (const [body, reason] of [
    ['"x"', 'body: expected a JSON object, got "x"'],
    [[], 'body: expected a JSON object, got an empty array'],
    [{ ...valid, trace: 'slow' }, 'trace: expected one of fast, got "slow"'],
    [{ trace: 'fast' }, 'scenario: expected one of short, got undefined'],
    [{ ...valid, startSeconds: -1 }, `${start} -1`],
    [JSON.stringify({ ...valid, startSeconds: 9 }).replace('9', '1e999'), `${start} Infinity`],
    [{ ...valid, link: 'none' }, expect.stringMatching(/^link: expected one of 1, .*got "none"/)],
    [
      { ...valid, startSeconds: 9, link: id },
      `link: expected a session with the same trace, start, scale, RTT and pacing, got "${id}"`,
    ],
    [{ ...valid, tempo: 2 }, 'tempo: expected one of trace, scenario, startSeconds, link, got 2'],
  ] as const)
    expect(await post(body)).toEqual([400, reason]);
  expect((await fetch(`${origin.url}/session`, { method: 'POST', body: 'x'.repeat(2 ** 23 + 1) })).status).toBe(413);
});

test('responds to any target and stays available', async () => {
  const id = open();
  const statusOf = async (path: string, method?: string) => (await sendRaw(origin.url, path, {}, method)).status;
  for (const path of ['//', '///', '//[', 'http://', 'http://[', '/%', '/%00', '*', '/session//', '/session/%2e%2e/'])
    expect([path, await statusOf(path)]).toEqual([path, path === '/session//' ? 405 : 404]);
  for (const path of ['constructor', '__proto__', 'toString', 'hasOwnProperty', '../traces', 'video-0/1.m4s/..'])
    expect([path, await statusOf(`/session/${id}/${path}`)]).toEqual([path, 404]);
  expect(await statusOf('/session/constructor/time')).toBe(404);
  expect(await statusOf(`${origin.url}/traces?all#end`)).toBe(200);
  expect(await statusOf('/traces', 'PROPFIND')).toBe(405);
});

test('an error in one response does not affect others', async () => {
  const fallback = () => {
    throw new Error('out of order');
  };
  const faulty = await started({ fallback });
  const response = await fetch(`${faulty.url}/elsewhere`);
  expect([response.status, await response.json()]).toEqual([500, { error: 'out of order' }]);
  expect((await fetch(`${faulty.url}/traces`)).status).toBe(200);
});

test.each([
  ['length', '1.1', ['content-length', 'no-store']],
  ['cacheable', '1.1', ['content-length', 'public, max-age=3600']],
  ['chunked', '1.1', ['transfer-encoding', 'no-store']],
  ['gzip', '1.1', ['transfer-encoding', 'content-encoding', 'no-store']],
  ['http-1.0', '1.0', ['no-store']],
] as const)('media in %s', async (delivery, httpVersion, framing) => {
  const id = open({ delivery });
  const whole = await bytesAt(open(), 'video-3/2.m4s');
  const request = httpRequest(at(id, 'video-3/2.m4s'), { headers: { connection: 'keep-alive' } }).end();
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  const received = await buffer(answer);
  const { headers } = answer;
  expect(answer.httpVersion).toBe(httpVersion);
  const framingSeen = ['content-length', 'transfer-encoding', 'content-encoding'].filter((name) => name in headers);
  expect([...framingSeen, headers['cache-control']]).toEqual(framing);
  expect(headers['access-control-allow-origin']).toBe('*');
  expect(Number(headers['x-trace-seconds'])).toBeGreaterThan(0);
  const body = delivery === 'gzip' ? gunzipSync(received) : received;
  expect(whole.equals(body)).toBe(true);
  const session = origin.session(id)!;
  while (session.isActive) await soon();
  expect(session.log[0]).toMatchObject({ outcome: 'complete', sentBytes: whole.length, bytes: whole.length });
});

test('live: UTC from the first manifest on, HTTP chunks of what exists, 404 for what does not, and reloads', async () => {
  const clock = new VirtualClock();
  const live = { chunkSeconds: 1, encoderLatencySeconds: 0.5, targetLatencySeconds: 3, timeShiftSeconds: 8 };
  const scenarios = { live: { ...scenario, live } };
  const open = await started({ traces: [trace], scenarios, clock });
  const body = JSON.stringify({ trace: 'fast', scenario: 'live', startSeconds: 7 });
  const created = await fetch(`${open.url}/session`, { method: 'POST', body });
  const { id } = (await created.json()) as { id: string };
  const get = (path: string) => fetch(`${open.url}/session/${id}/${path}`);
  clock.run(clock.nowMs() + 5000);
  expect(open.session(id)!.nowSeconds).toBe(0);
  const start = 'availabilityStartTime="2025-06-01T12:00:11.000Z"';
  expect(await (await get('manifest.mpd')).text()).toContain(start);
  clock.run(clock.nowMs() + 1250);
  const later = await (await get('manifest.mpd')).text();
  expect(later).toContain(start);
  expect(later).toContain('publishTime="2025-06-01T12:00:20.250Z"');
  const utc = await get('utc');
  expect([await utc.text(), utc.headers.get('access-control-allow-origin')]).toEqual(['2025-06-01T12:00:20.250Z', '*']);
  // Of segment 3 (4 s, captured from the join on) no chunk exists before 1.5 s; of segment 4 none before 5.5 s.
  const early = await get('video-5/4.m4s');
  const error = '"video-5/4.m4s" does not exist yet; request it in 4.000 s';
  expect([early.status, await early.json()]).toEqual([404, { error }]);
  expect(early.headers.get('access-control-allow-origin')).toBe('*');
  // More than two after the newest segment.
  expect((await get('video-5.m3u8?_HLS_msn=5')).status).toBe(400);
  const pending = get('video-5/3.m4s');
  const session = open.session(id)!;
  while (session.log.length === 0) await soon();
  clock.run(clock.nowMs() + 300);
  const growing = await pending;
  expect(growing.headers.get('content-length')).toBeNull();
  expect(growing.headers.get('transfer-encoding')).toBe('chunked');
  const reader = growing.body!.getReader();
  const { chunks } = session.presentation.find('video-5/3.m4s')!;
  let received = 0;
  for (const { end } of chunks!) {
    while (received < end) received += (await reader.read()).value!.length;
    expect(received).toBe(end);
    clock.run(clock.nowMs() + 1000);
  }
  expect((await reader.read()).done).toBe(true);
  expect(received).toBe(segmentSizesBits(scenario)[2]![5]! / 8);

  const reload = get('video-5.m3u8?_HLS_msn=3&_HLS_part=2');
  while (clock.pending === 0) await soon();
  // Part 2 exists at 7.5 s.
  clock.run(clock.nowMs() + 2000);
  const text = await (await reload).text();
  expect(text.match(/4\.m4s",BYTERANGE="/g)).toHaveLength(3);
  const [, bytes, offset] = /4\.m4s",BYTERANGE="(\d+)@([1-9]\d+)",INDEPENDENT=YES\n#EXT-X-PRELOAD-HINT/.exec(text)!;
  const range = `bytes=${offset}-${Number(offset) + Number(bytes) - 1}`;
  const part = fetch(`${open.url}/session/${id}/video-5/4.m4s`, { headers: { range } });
  while (session.log.length === 1) await soon();
  clock.run(clock.nowMs() + 1000);
  expect((await part).headers.get('content-length')).toBe(bytes);
  expect((await get('video-5.m3u8?_HLS_msn=x')).status).toBe(400);
  expect((await get('video-9.m3u8')).status).toBe(404);
});

test('answers preflight requests', async () => {
  const headers = { 'access-control-request-headers': 'range' };
  const response = await fetch(at(open(), 'video-0/1.m4s'), { method: 'OPTIONS', headers });
  expect(response.status).toBe(204);
  expect(response.headers.get('access-control-allow-headers')).toBe('range');
});

test('forgets the oldest sessions beyond the limit', () => {
  const crowded = new Origin();
  const ids = Array.from({ length: 1002 }, () => crowded.createSession({ trace, scenario }).id);
  expect(ids.filter((id) => crowded.session(id) === undefined)).toEqual(ids.slice(0, 2));
});

const steady = traceOfRates([8], 60);
const slow: Scenario = { ...scenario, ...EXACT, rttSeconds: 0.05 };

function openOrigin(folder?: string) {
  const clock = new VirtualClock();
  const origin = new Origin({ traces: [steady], scenarios: { slow }, clock, ...(folder && { folder }) });
  const get = (path: string, init?: RequestInit) => origin.fetch(new Request(`http://localhost${path}`, init));
  return { clock, origin, get, session: origin.createSession({ trace: steady, scenario: slow }) };
}

test('an origin lies below its folder', async () => {
  const { origin, get } = openOrigin('/demo/');
  const owned = ['/demo/session', '/demo/session/1/time', '/demo/traces', '/session', '/demo/', '/demo/traces/1'];
  expect(owned.map((path) => origin.owns(path))).toEqual([true, true, true, false, false, false]);
  const body = JSON.stringify({ trace: 'made up', scenario: 'slow' });
  const addresses = await (await get('/demo/session', { method: 'POST', body })).json();
  const folder = '/demo/session/2';
  expect(addresses).toEqual({ id: '2', manifest: `${folder}/manifest.mpd`, hls: `${folder}/master.m3u8` });
  expect((await get(`${folder}/manifest.mpd`)).status).toBe(200);
  expect((await get('/session/2/manifest.mpd')).status).toBe(404);
});

test('a slow reader holds nothing back but its own bytes', async () => {
  const { clock, get, session } = openOrigin();
  const answer = get('/session/1/video-5/1.m4s');
  await clock.play();
  const { log } = session;
  const reader = (await answer).body!.getReader();
  const { value } = await reader.read();
  expect([log[0]!.outcome, log[0]!.sentBytes]).toEqual(['active', 0]);
  await reader.read();
  expect(log[0]!.sentBytes).toBe(value!.length);
});

test('an aborted request and a cancelled body free the link', async () => {
  const { clock, get, session } = openOrigin();
  const abort = new AbortController();
  const early = get('/session/1/video-5/1.m4s', { signal: abort.signal });
  abort.abort(new Error('enough'));
  await expect(early).rejects.toThrow('enough');
  const late = get('/session/1/video-5/2.m4s');
  clock.run(clock.nowMs() + 100);
  await (await late).body!.cancel();
  expect(session.log.map(({ outcome }) => outcome)).toEqual(['aborted', 'aborted']);
  expect(session.isActive).toBe(false);
  clock.run();
  expect(clock.pending).toBe(0);
});
