import { expect, test } from '@jest/globals';
import { wait } from '../../session/scripted.fixture.ts';
import {
  answers,
  asked,
  assign,
  GOOD,
  items,
  says,
  settled,
  URL_OF,
  useConfigAddress,
  VIEWERS,
  warn,
} from './config.fixture.ts';

useConfigAddress();

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
