/** Faults around the service: it keeps answering, reports problems, and delivers its events. */

import { readFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { draws } from '../abr/property.fixture.ts';
import { temporaryFolder } from '../replay/folder.fixture.ts';
import { DEFAULT_LIMITS } from './api/http-server.ts';
import { eventReader } from './api/sse.fixture.ts';
import { ManualClock } from './manual-clock.fixture.ts';
import { startForTest } from './opened.fixture.ts';
import { SmallDisk } from './recording/small-disk.fixture.ts';
import { openApiDocument, type ServiceOptions } from './start-service.ts';

const UNLIMITED = { rate: { perSecond: 1e9, burst: 1e9 } };

const at = temporaryFolder('file');
const faults: Error[] = [];
function start(options: Partial<ServiceOptions> = {}) {
  faults.length = 0;
  return startForTest({ onFault: (error) => faults.push(error), ...options });
}

test('docs/service.md states the limits', () => {
  const { bodyBytes, rate, connections, subscribers } = DEFAULT_LIMITS;
  const text = readFileSync(join(import.meta.dirname, '../docs/service.md'), 'utf8');
  expect(/\*\*Limits\*\*: ([^.]+)/.exec(text)?.[1]?.replaceAll('\n', ' ')).toBe(
    `${bodyBytes / 1024} KiB per body, 200 observations per report; ${rate.perSecond} requests per second and address ` +
      `(bursts of ${rate.burst}); ${connections} connections; ${subscribers} event streams; 64 players`,
  );
});

test('fuzzed requests get the statuses of the OpenAPI document', async () => {
  const { url, port } = await start({ limits: UNLIMITED });
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const calls = fuzzed(await openApiDocument('0'), draws(4000));
  const statuses = new Map<number, number>();
  const work = async () => {
    for (let call = calls.pop(); call !== undefined; call = calls.pop()) {
      const { allowed, ...sent } = call;
      const status = await send({ port, agent, ...sent });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (!allowed.has(status)) throw new Error(`${sent.method} ${sent.path} ${sent.body ?? ''}: status ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  agent.destroy();
  expect(faults).toEqual([]);
  expect(await (await fetch(`${url}/v1/state`)).json()).toMatchObject({ problems: [] });
  // Enough requests are malformed.
  expect(statuses.get(400)).toBeGreaterThan(50);
  expect([...statuses.keys()].filter((status) => status >= 500 && status !== 503)).toEqual([]);
  expect(await (await fetch(`${url}/healthz`)).text()).toBe('ok\n');
});

test('half-open connections time out while others are answered', async () => {
  const { url, port } = await start({ limits: { requestTimeoutMs: 150 } });
  const beginnings = [
    '',
    'GET /v1/state HTTP/1.1\r\nHost: loc',
    'POST /v1/observations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"pl',
  ];
  const sockets = await Promise.all(Array.from({ length: 30 }, (_, i) => opening(port, beginnings[i % 3]!)));
  const ended = sockets.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve)));
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  // Connections that have sent nothing have a longer timeout.
  await Promise.all(ended.filter((_, i) => i % 3 !== 0));
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});

test('connections beyond the limit are refused, and others continue', async () => {
  const { service, url, port } = await start({ limits: { connections: 10 } });
  const reader = await eventReader(`${url}/v1/events?types=trigger`);
  await reader.next();
  const sockets = await Promise.all(Array.from({ length: 20 }, () => opening(port, '')));
  // Besides the reader's, nine sockets are accepted. The kernel chooses them.
  let ended = 0;
  await new Promise<void>((resolve) => {
    for (const socket of sockets) socket.resume().once('close', () => ++ended === 11 && resolve());
  });
  service.publish('trigger', { n: 1 });
  expect((await reader.next()).data).toEqual({ n: 1 });
  reader.close();
  for (const socket of sockets) socket.destroy();
});

test('a reader that stalls is disconnected; the others get all events, once and in order', async () => {
  const { service, url, port } = await start({ clock: new ManualClock() });
  const idle = await opening(port, 'GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n');
  idle.pause();
  const ended = new Promise((resolve) => idle.once('close', resolve));
  const readers = await Promise.all(Array.from({ length: 2 }, () => eventReader(`${url}/v1/events?types=trigger`)));
  for (const reader of readers) await reader.next();
  while (service.stream.size < 3) await new Promise((resolve) => setImmediate(resolve));
  const text = 'x'.repeat(20_000);
  for (let n = 0; n < 500; n++) {
    service.publish('trigger', { n, text });
    for (const reader of readers) expect((await reader.next()).data.n).toBe(n);
  }
  expect(service.stream.slowReaders).toBe(1);
  idle.resume();
  await ended;
  // A second stream would wait for the end of the first one.
  const twice = await opening(port, 'GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(2));
  await new Promise((resolve) => twice.resume().once('close', resolve));
  expect(service.stream.size).toBe(2);
  for (const reader of readers) reader.close();
});

test('a service that ends reports the lines that a full disk has lost', async () => {
  const recording = { directory: at('full'), maxBytes: 1e9, files: new SmallDisk() };
  const { service, url, close } = await start({ recording });
  service.publish('trigger', {});
  await expect(close()).rejects.toThrow('recording: 1 line is lost');
  await expect(fetch(url)).rejects.toThrow();
});

function opening(port: number, text: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(text);
      resolve(socket);
    });
    socket.on('error', reject);
  });
}

interface SentCall {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

function send({ body, ...options }: SentCall & { port: number; agent: Agent }): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(options, (response) => {
      const { statusCode = 0 } = response;
      // An event stream does not end by itself.
      if (statusCode === 200 && options.path.startsWith('/v1/events')) response.destroy();
      else response.resume();
      response.on('close', () => resolve(statusCode));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Random requests that violate the document, with the statuses that it allows for them. */
function fuzzed(document: object, count: number): (SentCall & { allowed: ReadonlySet<number> })[] {
  const { paths } = document as { paths: Record<string, Record<string, { responses: Record<string, unknown> }>> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => {
      return { path, method: method.toUpperCase(), statuses: Object.keys(responses).map(Number) };
    }),
  );
  const some = fc.constantFrom;
  const odd = fc.oneof(fc.jsonValue(), some('x'.repeat(300), 1e308, '\u0000', 1.7e12, 1.7e12 + 100));
  const observation = fc.record(
    { kind: fc.oneof(some('throughput', 'idle', 'request-latency'), odd), startMs: odd, endMs: odd, bits: odd },
    { requiredKeys: [] },
  );
  const report = fc.record(
    { player: fc.oneof(fc.constant('p'), odd), observations: fc.oneof(fc.array(observation), odd) },
    { requiredKeys: [] },
  );
  const text = report.map((value) => JSON.stringify(value));
  const call = fc.record({
    operation: some(...operations),
    otherMethod: fc.option(some('PUT', 'DELETE', 'PATCH'), { freq: 20 }),
    below: fc.option(some('/x', '/..', '/%00', '/%ff', '/%2e%2e'), { freq: 20 }),
    query: some('', '?types=x', '?types=state', '?types=%00', '?types=state,,', '?types=state&types=clock'),
    origin: fc.option(some('null', 'https://evil.example', 'x', 'http://localhost.evil'), { freq: 20 }),
    type: fc.option(some('text/plain', 'x', 'application/json; charset=x', 'multipart/form-data'), { freq: 10 }),
    body: fc.oneof(
      { arbitrary: text, weight: 8 },
      text.map((whole) => whole.slice(0, whole.length >> 1)),
      text.map((whole) => whole.padEnd(70_000)),
    ),
  });
  return fc.sample(call, { seed: 1, numRuns: count }).map(({ operation, otherMethod, below, query, ...how }) => {
    const { method, path, statuses } = operation;
    const isPost = method === 'POST' && otherMethod === null;
    return {
      method: otherMethod ?? method,
      path: path + (below ?? query),
      allowed: new Set(otherMethod || below ? [...statuses, 400, 404] : statuses),
      headers: {
        ...(how.origin !== null && { origin: how.origin }),
        ...(isPost && { 'content-type': how.type ?? 'application/json' }),
      },
      body: isPost ? how.body : undefined,
    };
  });
}
