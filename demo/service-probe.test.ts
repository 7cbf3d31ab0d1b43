import { expect, test } from '@jest/globals';
import { type Fetch, probeService } from './service-probe.ts';

const ADDRESS = 'http://127.0.0.1:8790';

/** A fetch with an answer per path; other paths fail as in a browser. */
function answering(answers: Record<string, { status?: number; body?: unknown } | Error>): Fetch {
  return async (url) => {
    const answer = answers[url.slice(ADDRESS.length)] ?? new TypeError('Failed to fetch');
    if (answer instanceof Error) throw answer;
    const { status = 200, body } = answer;
    const json = async () => {
      if (body === undefined) throw new SyntaxError('Unexpected token');
      return body;
    };
    return { ok: status >= 200 && status < 300, status, json };
  };
}

test('gives the state of the dish, without fields of a wrong type', async () => {
  const dish = { state: 'online', latencyMs: 31.2, sinceMs: 5, detail: null };
  expect(await probeService(ADDRESS, answering({ '/v1/state': { body: { dish } } }))).toEqual({
    isThere: true,
    dish: { state: 'online', latencyMs: 31.2 },
  });
  const outage = { state: 'outage', detail: 'NO_SATS' };
  expect(await probeService(ADDRESS, answering({ '/v1/state': { body: { dish: outage } } }))).toEqual({
    isThere: true,
    dish: outage,
  });
});

const timeout = Object.assign(new Error('late'), { name: 'TimeoutError' });

test.each<[string, Parameters<typeof answering>[0], string, string]>([
  ['nothing is there', {}, 'silent', 'no answer'],
  ['no answer comes in time', { '/v1/state': timeout }, 'silent', 'no answer within 3 s'],
  ['the page may not read it', { '/healthz': { status: 0 } }, 'closed', 'an answer that this page may not read'],
  ['it requires a token', { '/v1/state': { status: 401 } }, 'token', 'status 401'],
  ['there is no such path', { '/v1/state': { status: 404 } }, 'stranger', 'status 404'],
  ['it fails', { '/v1/state': { status: 500 } }, 'failing', 'status 500'],
  ['it limits the request rate', { '/v1/state': { status: 429 } }, 'failing', 'status 429'],
  ['the answer is a page', { '/v1/state': {} }, 'stranger', 'no JSON'],
  [
    'the answer is other JSON',
    { '/v1/state': { body: [1] } },
    'stranger',
    '/v1/state: dish.state: expected a string, got undefined',
  ],
  [
    'the answer is null',
    { '/v1/state': { body: null } },
    'stranger',
    '/v1/state: dish.state: expected a string, got undefined',
  ],
  [
    'a state is no string',
    { '/v1/state': { body: { dish: { state: 3 } } } },
    'stranger',
    '/v1/state: dish.state: expected a string, got 3',
  ],
])('gives the reason if %s', async (_, answers, why, detail) => {
  expect(await probeService(ADDRESS, answering(answers))).toEqual({ isThere: false, why, detail });
});
