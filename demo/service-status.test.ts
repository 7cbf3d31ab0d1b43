import { describe, expect, test } from '@jest/globals';
import type { ServiceAnswer, ServiceProbe } from './service-probe.ts';
import { type ServedPlayer, type ServiceSituation, serviceStatus } from './service-status.ts';

const ADDRESS = 'http://127.0.0.1:8790';
const ANSWER: ServiceAnswer = { isThere: true, dish: { state: 'online', latencyMs: 31.4 } };
const SILENT: ServiceProbe = { isThere: false, why: 'silent', detail: 'no answer' };

function playing(state: Partial<ServedPlayer['state']> = {}, more: Partial<ServedPlayer> = {}): ServedPlayer {
  return {
    state: { connection: 'streaming', verdict: 'trusted', share: 1, ageSeconds: 1.3, ...state },
    isUsed: true,
    fault: undefined,
    ...more,
  };
}

/** The status of a service that answers and one player that uses it, with the given changes. */
function status(change: Partial<ServiceSituation>) {
  return serviceStatus({
    address: ADDRESS,
    pageUrl: 'http://localhost:5173/?start=0',
    probe: ANSWER,
    lastAnswer: ANSWER,
    isBack: false,
    players: [playing()],
    hasUser: true,
    ...change,
  });
}

test('without a service, before its first answer, and connected', () => {
  expect(status({ address: '' })).toMatchObject({ kind: 'off', label: 'None' });
  expect(status({ probe: undefined, lastAnswer: undefined })).toMatchObject({
    kind: 'connecting',
    label: 'Connecting',
    details: `Asking ${ADDRESS} …`,
  });
  expect(status({})).toEqual({
    kind: 'connected',
    label: 'Connected',
    details: 'dish online (31 ms) · forecast 1 s old · MPC-L uses it',
  });
});

test.each<[ServiceAnswer['dish'], string]>([
  [{ state: 'unused' }, 'no dish'],
  [{ state: 'connecting' }, 'looking for the dish'],
  [{ state: 'obstructed', latencyMs: 40 }, 'dish obstructed (40 ms)'],
  [{ state: 'outage', detail: 'NO_SATS', latencyMs: 40 }, 'dish in an outage (NO_SATS)'],
  [{ state: 'unreachable' }, 'dish unreachable'],
])('a dish: %j', (dish, text) => {
  const { details } = status({ probe: { isThere: true, dish }, players: [] });
  expect(details).toBe(text);
});

describe('connected, but', () => {
  test('no player uses forecasts, there is none yet, or MPC-L prefers its own', () => {
    expect(status({ players: [], hasUser: false }).details).toContain('no player uses its forecasts');
    const waiting: ServedPlayer = {
      state: { connection: 'streaming', verdict: 'trusted', share: 1 },
      isUsed: false,
      fault: undefined,
    };
    expect(status({ players: [waiting] })).toMatchObject({
      kind: 'connected',
      details: expect.stringContaining('no forecast yet'),
    });
    expect(status({ players: [playing({ share: 0.5 }), playing({ share: 0.5 })] }).details).toContain(
      'several players',
    );
    expect(status({ players: [playing(), playing({}, { isUsed: false })] }).details).toContain(
      'MPC-L uses its own now',
    );
  });

  test('it has just been started', () => {
    expect(status({ players: [playing({ verdict: 'not-yet' }), playing()] })).toEqual({
      kind: 'connected',
      label: 'Connected',
      details: 'not used yet: it knows too little of the link, so MPC-L uses its own · dish online (31 ms)',
    });
  });

  test('its forecasts are old, invalid, or did not come true', () => {
    const old = status({ players: [playing(), playing({ ageSeconds: 7.2 })] });
    expect(old).toMatchObject({ kind: 'stale', label: 'Stale' });
    expect(old.details).toContain('newest forecast 7 s old, so MPC-L uses its own');
    expect(status({ players: [playing({ verdict: 'distrusted' })] })).toMatchObject({
      kind: 'distrusted',
      label: 'Not believed',
    });
    const wrong = status({ players: [playing({}, { fault: 'levels: expected an array of 1 to 64, got 3' })] });
    expect(wrong).toMatchObject({ kind: 'distrusted', label: 'Wrong forecasts' });
    expect(wrong.details).toContain('levels: expected an array');
  });
});

describe('not connected', () => {
  test('lost, and back', () => {
    const waiting = playing({ connection: 'waiting' });
    const lost = status({ probe: SILENT, players: [waiting] });
    expect(lost).toMatchObject({ kind: 'lost', label: 'Lost' });
    expect(lost.details).toContain('MPC-L uses its own forecasts');
    expect(status({ isBack: true })).toMatchObject({ kind: 'connected', label: 'Connected again' });
  });

  test('one failed probe is no lost service while forecasts arrive', () => {
    expect(status({ probe: SILENT })).toMatchObject({ kind: 'connected', label: 'Connected' });
    expect(status({ probe: SILENT, players: [playing({ ageSeconds: 6 })] }).kind).toBe('lost');
    expect(status({ probe: { ...SILENT, why: 'closed' } }).kind).toBe('refused');
  });

  test.each<[Partial<ServiceSituation>, string, string]>([
    [{ probe: SILENT }, 'Unreachable', `Nothing answers at ${ADDRESS}`],
    [
      { probe: { isThere: false, why: 'closed', detail: '' }, pageUrl: 'http://10.0.0.7:5173/?a' },
      'Refused',
      'leo-abr serve --allow-origin http://10.0.0.7:5173.',
    ],
    [
      { probe: { isThere: false, why: 'closed', detail: '' }, address: 'http://dish.lan:8790' },
      'Refused',
      '--allow-origin http://localhost:5173 --allow-host dish.lan.',
    ],
    [{ probe: { isThere: false, why: 'token', detail: '' } }, 'Refused', 'requires a token'],
    [
      { probe: { isThere: false, why: 'stranger', detail: 'no JSON' } },
      'Not a prediction service',
      'is no prediction service (no JSON)',
    ],
    [{ probe: { isThere: false, why: 'failing', detail: 'status 500' } }, 'Failing', 'answers with status 500'],
    [{ address: 'http://10.0.0.7:8790', pageUrl: 'https://player.example/' }, 'Refused by the browser', 'TLS'],
  ])('%j: %s', (change, label, details) => {
    const refused = status({ lastAnswer: undefined, players: [], ...change });
    expect(refused).toMatchObject({ kind: 'refused', label });
    expect(refused.details).toContain(details);
  });
});
