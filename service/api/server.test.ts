import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import fastify from 'fastify';
import { ManualClock } from '../manual-clock.fixture.ts';
import { type RunningService, type ServiceOptions, startService } from '../start-service.ts';
import { openApiDocument } from './openapi.ts';
import { SCHEMAS } from './schemas.ts';
import { eventReader } from './sse.fixture.ts';

const running: RunningService[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.close();
});

async function start(options: Partial<ServiceOptions> = {}) {
  const service = await startService({ version: '1.2.3', port: 0, ...options });
  running.push(service);
  return service;
}

const report = (observations: unknown, player: unknown = 'p1') => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ player, observations }),
});

/** With headers that `fetch` does not let one set. */
function raw(url: string, headers: Record<string, string>, method = 'GET') {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const sent = httpRequest(url, { headers, method }, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Throughput of 40 Mbit/s in the last `seconds` until now, in tenths of a second. */
function downloaded(utcMs: number, seconds: number) {
  return Array.from({ length: seconds * 10 }, (_, i) => ({
    kind: 'throughput',
    startMs: utcMs - (seconds * 10 - i) * 100,
    endMs: utcMs - (seconds * 10 - i - 1) * 100,
    bits: 4e6,
  }));
}

/** A service on a clock of the test, to which a player has reported ten seconds of 40 Mbit/s. */
async function startWithObservations() {
  const clock = new ManualClock();
  const { service, url } = await start({ clock });
  for (let i = 0; i < 10; i++) {
    clock.advance(1);
    const response = await fetch(`${url}/v1/observations`, report(downloaded(clock.utcMs(), 1)));
    expect(await response.json()).toMatchObject({ accepted: 10, late: 0, impossible: 0, share: 1 });
    service.tick();
  }
  return { clock, service, url };
}

describe('the API', () => {
  test('has no forecast at first, and says why', async () => {
    const { url } = await start();
    const reply = await (await fetch(`${url}/v1/forecast`)).json();
    expect(reply).toEqual({
      serverUtcMs: expect.any(Number),
      observedSeconds: 0,
      forecast: null,
      because: 'nothing was reported of the capacity yet',
    });
  });

  test('forecasts what players report, in UTC', async () => {
    const { clock, url } = await startWithObservations();
    const { serverUtcMs, forecast } = (await (await fetch(`${url}/v1/forecast`)).json()) as {
      serverUtcMs: number;
      forecast: { issuedAtMs: number; quantilesBps: number[][]; levels: number[] };
    };
    expect(serverUtcMs).toBe(clock.utcMs());
    expect(forecast.issuedAtMs).toBeGreaterThan(clock.utcMs() - 2000);
    expect(forecast.issuedAtMs).toBeLessThanOrEqual(clock.utcMs());
    const median = forecast.quantilesBps[0]![forecast.levels.indexOf(0.5)]!;
    expect(median).toBeGreaterThan(30e6);
    expect(median).toBeLessThan(50e6);
  });

  test('answers as its OpenAPI document says', async () => {
    const { url } = await startWithObservations();
    for (const [path, schema] of [
      ['/v1/forecast', 'ForecastReply'],
      ['/v1/handovers', 'HandoversReply'],
      ['/v1/state', 'StateReply'],
      ['/v1/nothing', 'ErrorReply'],
    ] as const) {
      const reply = await (await fetch(`${url}${path}`)).json();
      expect({ path, wrong: await faultOf(schema, reply) }).toEqual({ path, wrong: null });
    }
  });

  test('shows health, metrics and its document', async () => {
    const { url } = await start();
    expect(await (await fetch(`${url}/healthz`)).text()).toBe('ok\n');
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('leo_abr_http_requests_total{method="GET",route="/healthz",status="200"} 1\n');
    expect(metrics).toContain('leo_abr_dish_state{state="unused"} 1\n');
    expect(metrics).not.toMatch(/NaN|undefined/);
    expect(await (await fetch(`${url}/openapi.json`)).json()).toEqual(openApiDocument('1.2.3'));
  });

  test.each<[string, unknown, string]>([
    ['no array', {}, 'body.observations: must be array, got an object'],
    [
      'an unknown kind',
      [{ kind: 'tea' }],
      'body.observations[0].kind: must be equal to one of the allowed values, got "tea"',
    ],
    [
      'no bits',
      [{ kind: 'throughput', startMs: 1e12, endMs: 1e12 }],
      "body.observations[0]: must have required property 'bits'",
    ],
    [
      'text for a number',
      [{ kind: 'idle', startMs: '1e12', endMs: 1e12 }],
      'body.observations[0].startMs: must be number, got "1e12"',
    ],
    ['seconds for ms', [{ kind: 'idle', startMs: 1.7e9, endMs: 1.7e9 }], 'must be >= 946684800000, got 1700000000'],
    ['too many', Array(201).fill({ kind: 'idle', startMs: 1e12, endMs: 1e12 }), 'NOT have more than 200 items'],
  ])('refuses observations with %s', async (_, observations, message) => {
    const { url } = await start();
    const response = await fetch(`${url}/v1/observations`, report(observations));
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe('bad-request');
    expect(error.message).toContain(message);
  });

  test('refuses bodies that are too large, no JSON, or of another type', async () => {
    const { url } = await start();
    const post = (body: string, type = 'application/json') =>
      fetch(`${url}/v1/observations`, { method: 'POST', body, headers: { 'content-type': type } });
    expect((await post(`{"player":"${'x'.repeat(70_000)}"}`)).status).toBe(413);
    expect((await post('{"player"')).status).toBe(400);
    expect((await post('')).status).toBe(400);
    expect((await post('{"__proto__":{"a":1},"player":"a","observations":[]}')).status).toBe(400);
    expect((await post('{}', 'text/plain')).status).toBe(415);
    expect((await post('a=1', 'application/x-www-form-urlencoded')).status).toBe(415);
    expect((await fetch(`${url}/v1/observations`)).status).toBe(404);
  });

  test('takes no more players than it can remember', async () => {
    const { url } = await start();
    for (let i = 0; i < 64; i++) expect((await fetch(`${url}/v1/observations`, report([], `p${i}`))).status).toBe(200);
    const refused = await fetch(`${url}/v1/observations`, report([], 'one too many'.replaceAll(' ', '-')));
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('10');
  });
});

describe('security', () => {
  test('a name that DNS may point here is no host of ours', async () => {
    const { url } = await start({ allowedHosts: ['Dish.lan'] });
    expect((await raw(`${url}/v1/state`, { host: 'evil.example' })).status).toBe(403);
    expect((await raw(`${url}/v1/state`, { host: 'dish.lan:80' })).status).toBe(200);
    expect((await raw(`${url}/v1/state`, { host: 'localhost' })).status).toBe(200);
  });

  test('pages of other origins may neither read nor write nor ask whether they may', async () => {
    const { url } = await start({ allowedOrigins: ['https://player.example'] });
    const evil = { origin: 'https://evil.example' };
    expect((await raw(`${url}/v1/state`, evil)).status).toBe(403);
    expect((await raw(`${url}/v1/observations`, { ...evil, 'content-type': 'application/json' }, 'POST')).status).toBe(
      403,
    );
    const asked = await raw(`${url}/v1/state`, { ...evil, 'access-control-request-method': 'GET' }, 'OPTIONS');
    expect(asked.status).toBe(403);
    expect(asked.headers['access-control-allow-origin']).toBeUndefined();
    const listed = await raw(`${url}/v1/state`, { origin: 'https://player.example' });
    expect(listed.headers['access-control-allow-origin']).toBe('https://player.example');
    const own = await raw(`${url}/v1/state`, { origin: 'http://localhost:5173' });
    expect(own.headers['access-control-allow-origin']).toBe('http://localhost:5173');
  });

  test('a preflight into the private network is answered', async () => {
    const { url } = await start();
    const { status, headers } = await raw(
      `${url}/v1/observations`,
      {
        origin: 'http://localhost:5173',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,authorization',
        'access-control-request-private-network': 'true',
      },
      'OPTIONS',
    );
    expect(status).toBe(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': 'http://localhost:5173',
      'access-control-allow-private-network': 'true',
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'authorization, content-type, last-event-id',
    });
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  });

  test('with a token, everything but health and preflights needs it', async () => {
    const { url } = await start({ token: 'secret' });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    for (const path of ['/v1/state', '/v1/events', '/metrics', '/openapi.json', '/nothing']) {
      const refused = await fetch(`${url}${path}`);
      expect(refused.status).toBe(401);
      expect(await refused.text()).not.toContain('secret');
    }
    const preflight = { origin: 'http://localhost', 'access-control-request-method': 'GET' };
    expect((await raw(`${url}/v1/state`, preflight, 'OPTIONS')).status).toBe(204);
    expect((await fetch(`${url}/v1/state`, { headers: { authorization: 'Bearer secret' } })).status).toBe(200);
  });

  test('too many requests are told when to come again', async () => {
    const { url } = await start({ limits: { rate: { perSecond: 1, burst: 3 } }, clock: new ManualClock() });
    for (let i = 0; i < 3; i++) expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const refused = await fetch(`${url}/healthz`);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
  });

  test('what is no HTTP is answered with 400 and forgotten', async () => {
    const { port, url } = await start();
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write('\u0000\u0001 nonsense\r\n\r\n'));
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe('events', () => {
  test('come with ids, and what was missed comes after a reconnect', async () => {
    const { service, url } = await start({ clock: new ManualClock() });
    const first = await eventReader(`${url}/v1/events`);
    expect(await first.next()).toMatchObject({
      event: 'hello',
      id: undefined,
      data: { serverUtcMs: expect.any(Number) },
    });
    service.publish('trigger', { n: 1 });
    const one = await first.next();
    expect(one).toMatchObject({ event: 'trigger', data: { n: 1 } });
    first.close();
    service.publish('trigger', { n: 2 });
    service.publish('handover', { n: 3 });
    const again = await eventReader(`${url}/v1/events`, { 'last-event-id': one.id! });
    expect((await again.next()).event).toBe('hello');
    expect((await again.next()).data).toEqual({ n: 2 });
    expect((await again.next()).data).toEqual({ n: 3 });
    service.publish('trigger', { n: 4 });
    expect((await again.next()).data).toEqual({ n: 4 });
    again.close();
  });

  test('begin with `missed` after a restart, and for wrong types not at all', async () => {
    const { url } = await start();
    const reader = await eventReader(`${url}/v1/events`, { 'last-event-id': 'other.5' });
    expect((await reader.next()).event).toBe('hello');
    expect(await reader.next()).toMatchObject({ event: 'missed', data: { reason: 'restarted' } });
    reader.close();
    for (const types of ['tea', '', 'state,', 'state,state']) {
      expect((await fetch(`${url}/v1/events?types=${types}`)).status).toBe(400);
    }
  });

  test('can be chosen by type', async () => {
    const { service, url } = await start({ clock: new ManualClock() });
    const reader = await eventReader(`${url}/v1/events?types=trigger,clock`);
    await reader.next();
    service.publish('handover', { n: 1 });
    service.publish('clock', { n: 2 });
    expect((await reader.next()).data).toEqual({ n: 2 });
    reader.close();
  });

  test('carry a forecast a second, once each', async () => {
    const { clock, service, url } = await startWithObservations();
    const reader = await eventReader(`${url}/v1/events?types=forecast`);
    await reader.next();
    const issued: number[] = [];
    for (let i = 0; i < 3; i++) {
      clock.advance(1);
      await fetch(`${url}/v1/observations`, report(downloaded(clock.utcMs(), 1)));
      service.tick();
      issued.push((await reader.next()).data.forecast.issuedAtMs);
    }
    expect(new Set(issued).size).toBe(3);
    reader.close();
  });

  test('go to so many and no more', async () => {
    const { url } = await start({ limits: { subscribers: 2 } });
    const readers = [await eventReader(`${url}/v1/events`), await eventReader(`${url}/v1/events`)];
    for (const reader of readers) await reader.next();
    expect((await fetch(`${url}/v1/events`)).status).toBe(503);
    for (const reader of readers) reader.close();
  });
});

test('the document that is checked in is the one that is served', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../cli/package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const checkedIn: unknown = JSON.parse(readFileSync(new URL('openapi.json', import.meta.url), 'utf8'));
  // `npx leo-abr serve --print-openapi > service/api/openapi.json` renews it.
  expect(checkedIn).toEqual(JSON.parse(JSON.stringify(openApiDocument(version))));
});

/** What is wrong with a reply by its schema, in words of the validator; null where nothing is. */
async function faultOf(name: string, value: unknown): Promise<unknown> {
  const text = JSON.stringify({ ...SCHEMAS[name], definitions: SCHEMAS });
  const body: unknown = JSON.parse(text.replaceAll('#/components/schemas/', '#/definitions/'));
  const checker = fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false } } });
  checker.post('/', { schema: { body } }, () => 'fine');
  const { payload } = await checker.inject({ method: 'POST', url: '/', payload: value as object });
  await checker.close();
  return payload === 'fine' ? null : JSON.parse(payload);
}
