import { beforeEach, expect, jest, test } from '@jest/globals';
import { resolveOptions } from '../../session/page/options.ts';
import { broken, wait } from '../../session/scripted.fixture.ts';
import { assignArm, type ConfiguredTrial, type TrialOptions } from '../index.ts';
import { define, items, STORAGE, settled, usePage } from './page.fixture.ts';

usePage();

const URL_OF = 'https://cdn.example/leo-abr.json';
const GOOD = { schema: 1, enabled: true, trial: 'spring', shares: { player: 0.5, 'mpc-l': 0.5 } };
const VIEWERS = Array.from({ length: 2000 }, (_, i) => `viewer ${i}`);

/** What the address answers. */
let answer: () => Response | Promise<Response>;
const answers = (next: typeof answer) => {
  answer = next;
};
const asked: [url: string, init: RequestInit][] = [];
const says = (config: unknown, status = 200) => {
  answer = () => new Response(typeof config === 'string' ? config : JSON.stringify(config), { status });
};

beforeEach(() => {
  asked.length = 0;
  define('fetch', async (url: string, init: RequestInit) => {
    asked.push([url, init]);
    return answer();
  });
  define('location', { origin: 'http://page.example' });
  define('document', { baseURI: 'http://page.example/watch/' });
  says(GOOD);
});

const warn = jest.fn();
const assign = (more: Partial<ConfiguredTrial> = {}) =>
  assignArm({ config: URL_OF, key: 'viewer 1', logger: { warn }, ...more });

const keys = (count: number) => Array.from({ length: count }, (_, i) => `viewer ${i}`);
const armsOf = (trial: TrialOptions, count = 20_000) => keys(count).map((key) => assignArm({ ...trial, key }));

/** Within five standard deviations of the expected number. */
function expectShare(hits: number, of: number, share: number): void {
  expect(Math.abs(hits - of * share)).toBeLessThan(5 * Math.sqrt(of * share * (1 - share)));
}

test('an assignment is reproducible from name and key', () => {
  const trial = { name: 'spring', share: 0.5, key: 'somebody' };
  const arm = { trial: 'spring', arm: 'leo-abr', armShare: 0.5, unit: 'viewer', cluster: 674, options: {} };
  expect([assignArm(trial), assignArm({ ...trial })]).toEqual([arm, arm]);
});

test('an assignment of an A/A trial is balanced, by cluster too, and independent of another trial', () => {
  const arms = { a: {}, b: {} };
  const first = armsOf({ name: 'A-A', arms });
  const second = armsOf({ name: 'other', arms });
  const inA = first.filter(({ arm }) => arm === 'a');
  expectShare(inA.length, first.length, 0.5);
  expectShare(first.filter(({ arm }, i) => arm === second[i]!.arm).length, first.length, 0.5);
  const low = first.filter(({ cluster }) => cluster < 500);
  expectShare(low.length, first.length, 0.5);
  expectShare(low.filter(({ arm }) => arm === 'a').length, low.length, 0.5);
  const sizes = new Array<number>(1000).fill(0);
  for (const { cluster } of first) sizes[cluster]!++;
  // Chi-squared of 999 degrees of freedom: 999 on average, with a deviation of 45.
  const chiSquared = sizes.reduce((sum, size) => sum + (size - 20) ** 2 / 20, 0);
  expect(Math.abs(chiSquared - 999)).toBeLessThan(5 * 45);
});

test('a trial may have more than two arms, in any order, with the options of each', () => {
  const risky = { risk: 0.3 };
  const arms = { own: 'player', careful: { risk: 0.1 }, risky } as const;
  const assigned = armsOf({ name: 'three', arms });
  const { own, careful, risky: _ } = arms;
  expect(armsOf({ name: 'three', arms: { risky, careful, own } })).toEqual(assigned);
  for (const name of ['own', 'careful', 'risky']) {
    const one = assigned.filter(({ arm }) => arm === name);
    expectShare(one.length, assigned.length, 1 / 3);
    const options = arms[name as keyof typeof arms];
    expect(one[0]!.options).toBe(options === 'player' ? undefined : options);
  }
});

test('a trial may have all or none of the viewers', () => {
  expect(new Set(armsOf({ name: 'all', share: 1 }, 100).map(({ arm }) => arm))).toEqual(new Set(['leo-abr']));
  expect(assignArm({ name: 'none', share: 0 })).toMatchObject({ arm: 'player', armShare: 1 });
});

const repeated = (unit: 'viewer' | 'session') =>
  new Set(keys(30).map(() => JSON.stringify(assignArm({ name: 'visits', unit })))).size;

test('a viewer has the same arm at each visit, by a number in the storage', () => {
  expect(repeated('viewer')).toBe(1);
  expect([...items.keys()]).toEqual(['leo-abr-viewer']);
  expect(items.get('leo-abr-viewer')).toMatch(/^[0-9a-f]{16}$/);
  expect(repeated('session')).toBeGreaterThan(20);
});

test('with storage: false, the storage is not touched, and the unit is the session unless there is a key', () => {
  const trial = { name: 'visits', storage: false };
  expect(new Set(keys(30).map(() => JSON.stringify(assignArm(trial)))).size).toBeGreaterThan(20);
  expect([assignArm(trial).unit, assignArm({ ...trial, key: 'a' }).unit, items.size]).toEqual(['session', 'viewer', 0]);
});

test('a viewer without a storage, or with one that keeps nothing, is a session', () => {
  for (const storage of [undefined, { ...STORAGE, getItem: broken }, { ...STORAGE, setItem: () => {} }]) {
    define('localStorage', storage);
    expect(repeated('viewer')).toBeGreaterThan(20);
  }
});

test.each<[object | undefined, string]>([
  [undefined, 'trial.name'],
  [{ name: 1 }, 'trial.name'],
  [{ name: 'a', shares: 0.1 }, 'trial.shares'],
  [{ name: 'a/b' }, 'trial.name'],
  [{ name: 'a', share: 1.1 }, 'trial.share'],
  [{ name: 'a', share: 0.5, arms: { a: {}, b: {} } }, 'trial.share'],
  [{ name: 'a', arms: { a: {} } }, 'trial.arms'],
  [{ name: 'a', arms: { a: {}, 'b\n': {} } }, 'trial.arms'],
  [{ name: 'a', arms: { a: {}, b: 'mpc-l' } }, 'trial.arms.b'],
  [{ name: 'a', unit: 'day' }, 'trial.unit'],
  [{ name: 'a', key: 7 }, 'trial.key'],
  [{ name: 'a', storage: 0 }, 'trial.storage'],
])('%j is refused', (trial, field) => {
  expect(() => assignArm(trial as never)).toThrow(field);
});

test('a configuration by URL, or as an object, assigns an arm with its options', async () => {
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
])('a configuration may be at %s', async (config) => {
  expect(await assign({ config })).toMatchObject({ trial: 'spring' });
});

test.each<[unknown, string]>([
  ['http://cdn.example/a.json', 'trial.config: expected a URL with https, or of the page'],
  ['http://localhost.example/a.json', 'trial.config'],
  ['data:application/json,{}', 'trial.config'],
  ['https://', 'trial.config'],
])('a configuration may not be at %s', async (config, message) => {
  await expect(assign({ config: config as string })).rejects.toThrow(message);
});

test.each<[object, string]>([
  [{ configSeconds: 11 }, 'trial.configSeconds: expected a number from 0 to 10, got 11'],
  [{ share: 0.5 }, 'trial.share: expected a known field'],
  [{ name: 'a' }, 'trial.name: expected a known field'],
  [{ wait: 1 }, 'trial.wait'],
  [{ unit: 'day' }, 'trial.unit'],
])('beside a configuration, %j is refused', async (more, message) => {
  await expect((async () => assign(more))()).rejects.toThrow(message);
});

test.each([
  ['by default', 0.3, {}],
  ['with configSeconds', 2, { configSeconds: 2 }],
])('%s, the page waits %d s at most; a late configuration is for the next session', async (_, seconds, given) => {
  let respond: (response: Response) => void = () => {};
  const late = new Promise<Response>((resolve) => {
    respond = resolve;
  });
  answers(() => late);
  let arm: unknown = 'waiting';
  void assign(given).then((found) => {
    arm = found;
  });
  wait(seconds - 0.01);
  await settled();
  expect(arm).toBe('waiting');
  wait(0.02);
  await settled();
  expect(arm).toBeUndefined();
  respond(new Response(JSON.stringify(GOOD)));
  await settled();
  answers(() => Promise.reject(new TypeError('Failed to fetch')));
  expect(await assign()).toMatchObject({ trial: 'spring' });
});

const BYTES = new Uint8Array(99);
/** In place of a good configuration. */
const FAULTS: [why: string, fault: () => void][] = [
  ['unreachable', () => answers(() => Promise.reject(new TypeError('Failed to fetch')))],
  ['not found', () => says(GOOD, 404)],
  ['no JSON', () => says('<html>')],
  ['of another schema', () => says({ ...GOOD, schema: 2 })],
  ['with an unknown field', () => says({ ...GOOD, share: 1 })],
  ['with an unknown option', () => says({ ...GOOD, options: { sizes: 'https://evil.example' } })],
  ['with an invalid option', () => says({ ...GOOD, options: { risk: 2 } })],
  ['without enabled', () => says({ ...GOOD, enabled: undefined })],
  ['with a name that no report may have', () => says({ ...GOOD, trial: 'a/b' })],
  ['with an arm of such a name', () => says({ ...GOOD, shares: { player: 0.5, 'b\n': 0.5 } })],
  ['with a share below 0', () => says({ ...GOOD, shares: { player: 1.5, 'mpc-l': -0.5 } })],
  ['with shares of a sum above 1', () => says({ ...GOOD, shares: { player: 0.99, 'mpc-l': 0.1 } })],
  ['with four arms', () => says({ ...GOOD, shares: { a: 0, b: 0, c: 0, player: 1 } })],
  ['above 16 kB', () => says(JSON.stringify(GOOD) + ' '.repeat(16_384))],
  ['endless', () => answers(() => new Response(new ReadableStream({ pull: (body) => body.enqueue(BYTES) })))],
];

test.each(FAULTS)('a configuration that is %s means the last good one of a day, else no trial', async (_, fault) => {
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

test('a blocked or foreign storage keeps nothing, and breaks nothing', async () => {
  items.set('leo-abr-trial', '{"url":"https://cdn.example/leo-abr.json","atMs":"x","config":{}}');
  says('{');
  expect(await assign()).toBeUndefined();
  Reflect.deleteProperty(globalThis, 'localStorage');
  expect(await assign()).toBeUndefined();
  says(GOOD);
  expect(await assign()).toMatchObject({ trial: 'spring' });
});

test('with storage: false nothing is kept, and nothing kept is read', async () => {
  expect(await assign({ storage: false })).toMatchObject({ trial: 'spring' });
  expect([...items]).toEqual([]);
  await assign();
  expect(items.size).toBe(1);
  says('{');
  expect(await assign()).toMatchObject({ trial: 'spring' });
  expect(await assign({ storage: false })).toBeUndefined();
});

const armsAt = (shares: object) =>
  Promise.all(VIEWERS.map(async (key) => (await assign({ key, config: { ...GOOD, shares } as never }))!.arm));
const moves = (from: string[], to: string[]) =>
  new Set(from.flatMap((arm, i) => (arm === to[i] ? [] : [`${arm} to ${to[i]}`])));

test('shares that ramp move viewers from player to the arm alone, and back', async () => {
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

test('shares of two arms beside player do not move their viewers to one another', async () => {
  const before = await armsAt({ player: 0.9, careful: 0.05, 'mpc-l': 0.05 });
  const after = await armsAt({ 'mpc-l': 0.4, player: 0.3, careful: 0.3 });
  expect(moves(before, after)).toEqual(new Set(['player to careful', 'player to mpc-l']));
  expect(moves(before, await armsAt({ player: 0.5, careful: 0.05, 'mpc-l': 0.45 }))).toEqual(
    new Set(['player to mpc-l']),
  );
});

test('a trial that is switched off has no new session, also while the address fails', async () => {
  says({ ...GOOD, shares: { 'mpc-l': 1 } });
  expect(await assign()).toMatchObject({ arm: 'mpc-l' });
  says({ ...GOOD, enabled: false });
  expect(await Promise.all(VIEWERS.slice(0, 20).map((key) => assign({ key })))).toEqual(Array(20).fill(undefined));
  answers(() => Promise.reject(new TypeError('Failed to fetch')));
  expect(await assign()).toBeUndefined();
});

test.each([
  [{ horizon: 1, risk: 0, watchSeconds: 1, maxWastedShare: 0, saveData: 0, qoe: 'log', abandon: false }],
  [{ horizon: 20, risk: 1, watchSeconds: 1e9, maxWastedShare: 1, saveData: 100, prior: false, pageLoad: true }],
])('the plugin takes the options %j of a configuration', async (options) => {
  const arm = await assign({ config: { ...GOOD, shares: { 'mpc-l': 1 }, options } as never });
  expect(() => resolveOptions({ ...arm!.options, logger: null })).not.toThrow();
});
