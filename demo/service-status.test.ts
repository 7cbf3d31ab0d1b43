import { describe, expect, test } from '@jest/globals';
import {
  LINK_SERVICE,
  parseService,
  type ServedPlayer,
  type ServiceSituation,
  serviceStatus,
} from './service-status.ts';

const ADDRESS = 'http://127.0.0.1:8790';

function playing(state: Partial<ServedPlayer['state']> = {}, more: Partial<ServedPlayer> = {}): ServedPlayer {
  return {
    state: { connection: 'connected', verdict: 'trusted', share: 1, ageSeconds: 1.3, ...state },
    isUsed: true,
    fault: undefined,
    ...more,
  };
}

/** The status of a service that one player uses, with the given changes. */
function status(change: Partial<ServiceSituation>) {
  const usual = { service: ADDRESS, pageUrl: 'http://localhost:5173/?start=0', players: [playing()], hasUser: true };
  return serviceStatus({ ...usual, ...change });
}

test('says which service it is, and that MPC-L uses it', () => {
  expect(status({ service: '' })).toEqual({ kind: 'off', label: 'None', details: 'MPC-L uses its own forecasts.' });
  const used = { kind: 'used', label: 'Used' };
  const plans = 'MPC-L plans with its forecasts, newest forecast 1 s old';
  expect(status({})).toEqual({ ...used, details: `${plans} (${ADDRESS}).` });
  expect(status({ service: LINK_SERVICE }).details).toContain(
    `${plans} (it runs on this server, beside a simulated dish on the replayed link).`,
  );
  expect(status({ players: [playing(), playing({}, { isUsed: false })] }).label).toBe('Used at times');
});

describe('says that MPC-L uses its own forecasts, and why', () => {
  test.each<[Partial<ServiceSituation>, string, string]>([
    [{ players: [playing({ verdict: 'contradicted' })] }, 'Another link', 'does not fit what MPC-L measures'],
    [{ players: [playing({ verdict: 'distrusted' })] }, 'Not believed', 'did not come true'],
    [{ players: [playing({ verdict: 'not-yet' }), playing()] }, 'Not yet', 'until the service'],
    [{ players: [playing({ share: 0.5 }), playing({ share: 0.5 })] }, 'Not used', 'several players report'],
    [{ players: [playing({}, { fault: 'levels: expected' })] }, 'Wrong forecasts', 'levels: expected'],
    [
      { players: [playing({ connection: 'waiting', detail: 'fetch failed' })] },
      'No answer',
      'fetch failed; it must run',
    ],
    [{ players: [playing({ connection: 'refused' })] }, 'No answer', '--allow-origin http://localhost:5173'],
    [{ service: LINK_SERVICE, failure: 'no session "3"', players: [] }, 'Not started', 'no session "3"'],
  ])('%j', (change, label, details) => {
    const shown = status(change);
    expect(shown.label).toBe(label);
    expect(shown.details).toContain('MPC-L uses its own forecasts');
    expect(shown.details).toContain(details);
  });

  test('before a forecast, without a player that asks, and if the browser forbids it', () => {
    const { ageSeconds, ...state } = playing().state;
    expect(status({ players: [{ ...playing(), state }] })).toMatchObject({ kind: 'waiting', label: 'Connecting' });
    expect(status({ players: [], hasUser: false }).details).toContain('no player is MPC-L');
    expect(status({ players: [] }).details).toContain('no player plays');
    const remote = { service: 'http://192.168.1.5:8790', pageUrl: 'https://player.example/' };
    expect(status(remote)).toMatchObject({ kind: 'failed', label: 'Refused by the browser' });
  });
});

describe('parseService', () => {
  test.each([
    ['', ''],
    ['link', 'link'],
    [' http://127.0.0.1:8790/ ', 'http://127.0.0.1:8790'],
    ['localhost:8790', 'http://localhost:8790'],
    ['[::1]:8790', 'http://[::1]:8790'],
    ['https://Dish.example/leo/', 'https://dish.example/leo'],
  ])('%j is %j', (typed, service) => {
    expect(parseService(typed)).toBe(service);
    expect(parseService(service)).toBe(service);
  });

  test.each([
    'http://',
    'ftp://dish',
    'javascript:alert(1)',
    'a b',
    'http://dish?x=1',
    'http://dish#x',
    'http://me:pw@dish',
  ])('%j is no address', (typed) => {
    expect(() => parseService(typed)).toThrow(
      `expected the address of a prediction service like http://127.0.0.1:8790, got “${typed}”`,
    );
  });
});
