/** Faults around the service: it keeps answering, reports problems, and delivers its events. */

import { Agent, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { seededRandom } from '../abr/statistics/random.ts';
import { temporaryFolder } from '../replay/folder.fixture.ts';
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

describe('requests', () => {
  test('4,000 fuzzed ones get the statuses of the OpenAPI document', async () => {
    const { url, port } = await start({ limits: UNLIMITED });
    const random = seededRandom(1);
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const requests = fuzzed(random, await openApiDocument('0'));
    const statuses = new Map<number, number>();
    let left = 4000;
    const work = async () => {
      while (left-- > 0) {
        const { method, path, headers, body, allowed } = requests();
        const status = await send({ port, agent, method, path, headers, body });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (!allowed.has(status)) throw new Error(`${method} ${path} ${body ?? ''}: status ${status}`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    agent.destroy();
    expect(faults).toEqual([]);
    expect(await (await fetch(`${url}/v1/state`)).json()).toMatchObject({ problems: [] });
    // Enough requests are malformed; the others get other statuses.
    expect(statuses.get(400)).toBeGreaterThan(200);
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
    const refused = sockets.map(
      (socket) => new Promise<void>((resolve) => socket.resume().once('close', () => resolve())),
    );
    // Nine sockets are accepted besides the reader's; the kernel chooses which.
    let ended = 0;
    await new Promise<void>((resolve) => {
      for (const end of refused) void end.then(() => ++ended === 11 && resolve());
    });
    service.publish('trigger', { n: 1 });
    expect((await reader.next()).data).toEqual({ n: 1 });
    reader.close();
    for (const socket of sockets) socket.destroy();
  });
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

function send({
  port,
  agent,
  method,
  path,
  headers,
  body,
}: SentCall & { port: number; agent: Agent }): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ port, agent, method, path, headers }, (response) => {
      const { statusCode = 0 } = response;
      // An event stream does not end by itself.
      if (statusCode === 200 && path.startsWith('/v1/events')) response.destroy();
      else response.resume();
      response.on('close', () => resolve(statusCode));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Random requests that violate the document, with the statuses that it allows for them. */
function fuzzed(random: () => number, document: object): () => SentCall & { allowed: ReadonlySet<number> } {
  type Operation = { responses: Record<string, unknown> };
  const { paths } = document as { paths: Record<string, Record<string, Operation>> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => ({
      path,
      method: method.toUpperCase(),
      allowed: new Set(Object.keys(responses).map(Number)),
    })),
  );
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;
  const notFound = new Set([400, 404]);
  const odd = [null, true, -1, 1e308, 'x', '', [], {}, [[]], { a: { b: {} } }, '\u0000', { kind: 'idle' }, 1.5, '1e12'];
  const junk = (): unknown => pick<unknown>([...odd, 'x'.repeat(300)]);
  const valid = () => ({
    player: 'p',
    observations: [
      { kind: 'throughput', startMs: 1.7e12, endMs: 1.7e12 + 100, bits: 1e6 },
      { kind: 'idle', startMs: 1.7e12, endMs: 1.7e12 + 5 },
      { kind: 'request-latency', atMs: 1.7e12, latencyMs: 20 },
    ] as unknown[],
  });
  /** Replaces, removes or adds one value somewhere in a document. */
  const mutated = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || random() < 0.3) return junk();
    const keys = Object.keys(value);
    const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    const key = pick(keys.length > 0 ? keys : ['x']);
    const way = random();
    if (way < 0.2) delete copy[key];
    else if (way < 0.35) copy[pick(['x', '__proto', 'constructor', 'kind', '0'])] = junk();
    else copy[key] = mutated(copy[key]);
    return copy;
  };
  const origins = ['null', 'https://evil.example', 'x', 'http://localhost.evil'];
  const types = ['x', 'state', '%00', '', 'state,,', 'a%26b', 'state&types=clock', '%F0%9F%9B%B0'];
  return () => {
    const { path, method, allowed } = pick(operations);
    const way = random();
    const empty = { headers: {}, body: undefined };
    if (way < 0.05) return { ...empty, method: pick(['PUT', 'DELETE', 'PATCH']), path, allowed: notFound };
    if (way < 0.1) {
      return { ...empty, method, path: `${path}/${pick(['x', '..', '%00', '%ff', '%2e%2e'])}`, allowed: notFound };
    }
    const asked = { method, path: way < 0.4 ? `${path}?types=${pick(types)}` : path, allowed };
    const headers: Record<string, string> = random() < 0.05 ? { origin: pick(origins) } : {};
    if (method !== 'POST') return { ...asked, headers, body: undefined };
    const odd = ['text/plain', 'x', 'application/json; charset=x', 'multipart/form-data'];
    headers['content-type'] = random() < 0.1 ? pick(odd) : 'application/json';
    const text = JSON.stringify(mutated(valid()));
    const cut = text.slice(0, Math.floor(random() * text.length));
    const size = random();
    return { ...asked, headers, body: size < 0.15 ? cut : size < 0.18 ? text.padEnd(70_000) : text };
  };
}
