import { expect, test } from '@jest/globals';
import { draws } from '../../abr/property.fixture.ts';
import { seededRandom } from '../../abr/statistics/random.ts';
import { resolveOptions } from '../../session/page/options.ts';
import * as dash from '../../src/dash/fake-player.fixture.ts';
import * as hls from '../../src/hls/fake-player.fixture.ts';
import type { LeoAbrOptions } from '../../src/index.ts';
import * as shaka from '../../src/shaka/fake-player.fixture.ts';
import type { Arm } from '../index.ts';
import { answers, assign, GOOD, items, says, useConfigAddress, VIEWERS } from './config.fixture.ts';
import { observe, PLAIN, playSession } from './observed-session.fixture.ts';

useConfigAddress();
hls.useWindow();

/** The plugin in a fake player, as an arm's options attach it. */
const ATTACHED: ((options: LeoAbrOptions) => { handle: { state: { faults: readonly unknown[] } } })[] = [
  (options) => dash.attached(options),
  (options) => hls.attached(options),
  (options) => shaka.attached(options),
];

test('a trial that is switched off has no new session, also while the address fails', async () => {
  says({ ...GOOD, shares: { 'mpc-l': 1 } });
  expect(await assign()).toMatchObject({ arm: 'mpc-l' });
  says({ ...GOOD, enabled: false });
  expect(await Promise.all(VIEWERS.slice(0, 20).map((key) => assign({ key })))).toEqual(Array(20).fill(undefined));
  answers(() => Promise.reject(new TypeError('Failed to fetch')));
  expect(await assign()).toBeUndefined();
});

/** Configurations that somebody who took over the address might serve. Some are valid. */
function hostile(random: () => number): string {
  const one = <T>(of: readonly T[]) => of[Math.floor(random() * of.length)]!;
  const values: readonly unknown[] = [
    ...[null, true, false, 0, 1, -1, 0.3, 20, 1e308, '', 'mpc-d', 'auto', 'https://evil.example/', 'x'.repeat(9000)],
    ...JSON.parse('[[], {}, [1], {"player":1}, {"mpc-l":1}, {"a":0.5,"b":0.5}, {"decide":1}, {"constructor":1}]'),
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
    () => JSON.stringify(config).replace(':1}', one([':1e999}', ':-0}', ':1e-999}', ':NaN}', ':1,"mpc-l":0.1}'])),
    () => `{"enabled":false,${JSON.stringify(config).slice(1)}`,
    () => one(['\ufeff', '\ufffe', '\u0000', '{},']) + JSON.stringify(config),
    () => JSON.stringify(config).replace('spring', one(['\ud800', '\u0000', '\r\n', '\u2028', '\u202e', '"', '..'])),
    () => one(values),
  ];
  const kind = one(kinds)();
  return typeof kind === 'string' ? kind : JSON.stringify(kind);
}

test('of many hostile configurations none breaks playback', async () => {
  const random = seededRandom(13);
  const counts = { player: 0, 'leo-abr': 0, none: 0 };
  for (let i = 0; i < draws(10_000); i++) {
    items.clear();
    says(hostile(random), random() < 0.05 ? 500 : 200);
    const arm: Arm<LeoAbrOptions> | undefined = await assign({ logger: null, key: `viewer ${i}` });
    counts[arm ? (arm.options ? 'leo-abr' : 'player') : 'none']++;
    if (arm?.options) resolveOptions({ ...arm.options, logger: null });
    if (i % 10 > 0) continue;
    const { handle } = arm?.options ? ATTACHED[i % 3]!({ ...arm.options, logger: null }) : {};
    if (handle) expect(handle.state.faults).toEqual([]);
    if (i % 100 > 0) continue;
    const { plain, seen, reports } = observe(Object.values(PLAIN)[i % 3]!, { arm, leoAbr: handle as never });
    playSession(plain);
    reports.stop();
    expect(seen).toMatchObject([{ started: true }]);
  }
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(20);
});
