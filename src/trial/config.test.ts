import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { seededRandom } from '../../abr/statistics/random.ts';
import { useManualClock, wait } from '../../session/scripted.fixture.ts';
import * as dash from '../dash/fake-player.fixture.ts';
import * as hls from '../hls/fake-player.fixture.ts';
import type { LeoAbrOptions } from '../index.ts';
import * as shaka from '../shaka/fake-player.fixture.ts';
import { type Arm, assignArm, type ConfiguredTrial, reportSessions } from '../trial.ts';
import { PLAIN, playSession } from './observed-session.fixture.ts';

useManualClock();
hls.useWindow();

const URL_OF = 'https://cdn.example/leo-abr.json';
const GOOD = { schema: 1, enabled: true, trial: 'spring', shares: { player: 0.5, 'mpc-l': 0.5 } };
const VIEWERS = Array.from({ length: 2000 }, (_, i) => `viewer ${i}`);

/** What the address answers. */
let answer: () => Response | Promise<Response>;
let items: Map<string, string>;
const asked: [url: string, init: RequestInit][] = [];
const saved = Object.entries(Object.getOwnPropertyDescriptors(globalThis)).filter(([name]) =>
  ['fetch', 'localStorage', 'location'].includes(name),
);

const says = (config: unknown, status = 200) => {
  answer = () => new Response(typeof config === 'string' ? config : JSON.stringify(config), { status });
};

beforeEach(() => {
  asked.length = 0;
  items = new Map();
  const localStorage = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  };
  const fetch = async (url: string, init: RequestInit) => {
    asked.push([url, init]);
    return answer();
  };
  const location = { origin: 'http://page.example', href: 'http://page.example/watch/' };
  for (const [name, value] of Object.entries({ localStorage, fetch, location })) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  says(GOOD);
});
afterEach(() => {
  for (const name of ['fetch', 'localStorage', 'location']) Reflect.deleteProperty(globalThis, name);
  for (const [name, descriptor] of saved) Object.defineProperty(globalThis, name, descriptor);
});

const warn = jest.fn();
const assign = (more: Partial<ConfiguredTrial> = {}) =>
  assignArm({ config: URL_OF, key: 'viewer 1', logger: { warn }, ...more });
const settled = async () => {
  for (let i = 0; i < 40; i++) await Promise.resolve();
};

describe('a configuration', () => {
  test('by URL, or as an object, assigns an arm with its options', async () => {
    const config = { ...GOOD, shares: { 'mpc-l': 1 }, options: { saveData: true, risk: 0.3 } } as const;
    says(config);
    const arm = { trial: 'spring', arm: 'mpc-l', armShare: 1, unit: 'viewer', options: config.options };
    expect(await assign()).toMatchObject(arm);
    expect(await assign({ config: new URL(URL_OF) })).toMatchObject(arm);
    expect(await assign({ config: config as never })).toMatchObject(arm);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toEqual([URL_OF, { cache: 'no-cache', credentials: 'omit', redirect: 'error' }]);
  });

  test.each<[string | URL]>([
    ['https://cdn.example/a.json'],
    ['/a.json'],
    ['a.json'],
    ['http://page.example/a.json'],
    ['http://localhost:8080/a.json'],
    ['http://127.0.0.1/a.json'],
    [new URL('http://[::1]:80/a.json')],
  ])('may be at %s', async (config) => {
    expect(await assign({ config })).toMatchObject({ trial: 'spring' });
  });

  test.each<[unknown, string]>([
    ['http://cdn.example/a.json', 'trial.config: expected a URL with https, or of the page'],
    ['http://localhost.example/a.json', 'trial.config'],
    ['data:application/json,{}', 'trial.config'],
    ['https://', 'trial.config'],
  ])('may not be at %s', async (config, message) => {
    await expect(assign({ config: config as string })).rejects.toThrow(message);
  });

  test.each<[object, string]>([
    [{ configSeconds: 11 }, 'trial.configSeconds: expected a number from 0 to 10, got 11'],
    [{ share: 0.5 }, 'trial.share: expected a known field'],
    [{ name: 'a' }, 'trial.name: expected a known field'],
    [{ wait: 1 }, 'trial.wait'],
    [{ unit: 'day' }, 'trial.unit'],
  ])('beside %j is refused', async (more, message) => {
    await expect((async () => assign(more))()).rejects.toThrow(message);
  });
});

describe('the page waits', () => {
  test('0.3 s at most by default; a late configuration is for the next session', async () => {
    let respond: (response: Response) => void = () => {};
    answer = () =>
      new Promise<Response>((resolve) => {
        respond = resolve;
      });
    let arm: unknown = 'waiting';
    void assign().then((found) => {
      arm = found;
    });
    wait(0.29);
    await settled();
    expect(arm).toBe('waiting');
    wait(0.02);
    await settled();
    expect(arm).toBeUndefined();
    respond(new Response(JSON.stringify(GOOD)));
    await settled();
    answer = () => Promise.reject(new TypeError('Failed to fetch'));
    expect(await assign()).toMatchObject({ trial: 'spring' });
  });

  test('for configSeconds', async () => {
    answer = () => new Promise<Response>(() => {});
    let isOver = false;
    void assign({ configSeconds: 2 }).then(() => {
      isOver = true;
    });
    wait(1.9);
    await settled();
    expect(isOver).toBe(false);
    wait(0.2);
    await settled();
    expect(isOver).toBe(true);
  });
});

/** In place of a good configuration. */
const FAULTS: [why: string, fault: () => void][] = [
  ['unreachable', () => (answer = () => Promise.reject(new TypeError('Failed to fetch')))],
  ['not found', () => says(GOOD, 404)],
  ['no JSON', () => says('<html>')],
  ['of another schema', () => says({ ...GOOD, schema: 2 })],
  ['with an unknown field', () => says({ ...GOOD, share: 1 })],
  ['with an unknown option', () => says({ ...GOOD, options: { sizes: 'https://evil.example' } })],
  ['with an invalid option', () => says({ ...GOOD, options: { risk: 2 } })],
  ['without enabled', () => says({ ...GOOD, enabled: undefined })],
  ['with shares of a sum above 1', () => says({ ...GOOD, shares: { player: 0.99, 'mpc-l': 0.1 } })],
  ['with four arms', () => says({ ...GOOD, shares: { a: 0, b: 0, c: 0, player: 1 } })],
  ['above 16 kB', () => says(JSON.stringify(GOOD) + ' '.repeat(16_384))],
];

describe.each(FAULTS)('%s', (_, fault) => {
  test('means the last good one of a day, else no trial', async () => {
    warn.mockClear();
    fault();
    expect(await assign()).toBeUndefined();
    expect(warn).toHaveBeenCalledTimes(1);
    says(GOOD);
    const arm = await assign();
    expect(arm).toMatchObject({ trial: 'spring' });
    fault();
    wait(86_000);
    expect(await assign()).toEqual(arm);
    expect(await assign({ config: 'https://other.example/' })).toBeUndefined();
    wait(500);
    expect(await assign()).toBeUndefined();
  });
});

test('a blocked or foreign storage keeps nothing, and breaks nothing', async () => {
  items.set('leo-abr-trial', '{"url":"https://cdn.example/leo-abr.json","atMs":"x","config":{}}');
  says('{');
  expect(await assign()).toBeUndefined();
  Reflect.deleteProperty(globalThis, 'localStorage');
  expect(await assign()).toBeUndefined();
  says(GOOD);
  expect(await assign()).toMatchObject({ trial: 'spring' });
});

/** The plugin in a fake player, as an arm's options attach it. */
const ATTACHED: ((options: LeoAbrOptions) => { handle: { state: { status: string } } })[] = [
  (options) => dash.attached(options),
  (options) => hls.attached(options),
  (options) => shaka.attached(options),
];

test('switched off, it reaches every new session, and a running one goes on', async () => {
  says({ ...GOOD, shares: { 'mpc-l': 1 } });
  const arm = await assign();
  const { handle } = ATTACHED[0]!(arm!.options!);
  says({ ...GOOD, enabled: false });
  expect(await Promise.all(VIEWERS.slice(0, 20).map((key) => assign({ key })))).toEqual(Array(20).fill(undefined));
  answer = () => Promise.reject(new TypeError('Failed to fetch'));
  expect(await assign()).toBeUndefined();
  expect(handle.state.status).toBe('attached');
  expect(arm).toMatchObject({ arm: 'mpc-l' });
});

describe('shares', () => {
  const armsAt = (shares: object) =>
    Promise.all(VIEWERS.map(async (key) => (await assign({ key, config: { ...GOOD, shares } as never }))!.arm));
  const moves = (from: string[], to: string[]) =>
    new Set(from.flatMap((arm, i) => (arm === to[i] ? [] : [`${arm} to ${to[i]}`])));

  test('that ramp move viewers from player to the arm alone, and back', async () => {
    const steps = [0.01, 0.05, 0.2, 0.5, 1];
    const arms = await Promise.all(steps.map((share) => armsAt({ player: 1 - share, 'mpc-l': share })));
    for (const [i, of] of arms.entries()) {
      const hits = of.filter((arm) => arm === 'mpc-l').length;
      const deviation = Math.sqrt(VIEWERS.length * steps[i]! * (1 - steps[i]!));
      expect(Math.abs(hits - steps[i]! * VIEWERS.length)).toBeLessThanOrEqual(5 * deviation);
      if (i === 0) continue;
      expect(moves(arms[i - 1]!, of)).toEqual(new Set(['player to mpc-l']));
      expect(moves(of, arms[i - 1]!)).toEqual(new Set(['mpc-l to player']));
    }
  });

  test('of two arms beside player do not move their viewers to one another', async () => {
    const before = await armsAt({ player: 0.9, careful: 0.05, 'mpc-l': 0.05 });
    const after = await armsAt({ 'mpc-l': 0.4, player: 0.3, careful: 0.3 });
    expect(moves(before, after)).toEqual(new Set(['player to careful', 'player to mpc-l']));
    expect(moves(before, await armsAt({ player: 0.5, careful: 0.05, 'mpc-l': 0.45 }))).toEqual(
      new Set(['player to mpc-l']),
    );
  });
});

/** Configurations that somebody who took over the address might serve. Some are valid. */
function hostile(random: () => number): string {
  const one = <T>(of: readonly T[]) => of[Math.floor(random() * of.length)]!;
  const values: readonly unknown[] = [
    ...[null, true, false, 0, 1, -1, 0.3, 20, 1e308, '', 'mpc-d', 'auto', 'https://evil.example/', 'x'.repeat(9000)],
    ...[
      [],
      {},
      [1],
      { player: 1 },
      { 'mpc-l': 1 },
      { a: 0.5, b: 0.5 },
      { decide: 1 },
      { __proto__: null, constructor: 1 },
    ],
  ];
  const options = [
    ...['risk', 'watchSeconds', 'abandon', 'maxWastedShare', 'prior', 'pageLoad', 'horizon', 'qoe', 'saveData'],
    ...['controller', 'forecasters', 'sizes', 'quality', 'live', 'seed', 'logger', 'debug', 'weights', 'toString'],
  ];
  const some = () => Object.fromEntries(Array.from({ length: 3 }, () => [one(options), one(values)]));
  const shares = () => one<unknown>([{ 'mpc-l': 1 }, { player: 0.5, 'mpc-l': 0.5 }, one(values)]);
  const config = { ...GOOD, shares: { 'mpc-l': 1 } };
  const kinds: (() => unknown)[] = [
    () => ({ ...config, options: some() }),
    () => ({ ...config, options: { [one(options)]: one(values) } }),
    () => ({ ...config, shares: shares() }),
    () => ({ ...config, [one([...Object.keys(GOOD), '__proto__', 'x'])]: one(values) }),
    () => `{"__proto__":{"enabled":true},${JSON.stringify(config).slice(1)}`,
    () => JSON.stringify(config).slice(0, Math.floor(random() * 90)),
    () => '['.repeat(Math.floor(random() * 20_000)),
    () => '{"a":'.repeat(3000),
    () => JSON.stringify({ ...config, options: { watchSeconds: 9 } }).replace('9', '1e999'),
    () => one(values),
  ];
  const kind = one(kinds)();
  return typeof kind === 'string' ? kind : JSON.stringify(kind);
}

test('of 1,000 hostile configurations none breaks playback', async () => {
  const random = seededRandom(13);
  const counts = { player: 0, 'leo-abr': 0, none: 0 };
  for (let i = 0; i < 1000; i++) {
    items.clear();
    says(hostile(random), random() < 0.05 ? 500 : 200);
    const arm: Arm<LeoAbrOptions> | undefined = await assign({ logger: null, key: `viewer ${i}` });
    counts[arm ? (arm.options ? 'leo-abr' : 'player') : 'none']++;
    const { handle } = arm?.options ? ATTACHED[i % 3]!({ ...arm.options, logger: null }) : {};
    if (handle) expect(handle.state.status).toBe('attached');
    if (i % 10 > 0) continue;
    const plain = Object.values(PLAIN)[i % 3]!();
    const reports = reportSessions(plain.api, { arm, leoAbr: handle as never, logger: null });
    const seen: { started: boolean }[] = [];
    reports.on('session', (report) => seen.push(report));
    playSession(plain);
    reports.stop();
    expect(seen).toMatchObject([{ started: true }]);
  }
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(20);
}, 120_000);
