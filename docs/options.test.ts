/** The comments of options, which docs/plugin.md repeats (reproduce.test.ts), agree with the plugin. */

import { expect, test } from '@jest/globals';
import { resolveMpcLOptions } from '../abr/mpc-l/options.ts';
import { assemble } from '../session/assemble.ts';
import { HOST } from '../session/host.fixture.ts';
import { DEFAULTS, resolveOptions } from '../session/page/options.ts';

type Documented = { option: string; type: string; meaning: string; default: string };
const { optionsOf } = await import(new URL('../scripts/option-table.js', import.meta.url).href);
const OPTIONS: Documented[] = optionsOf('LeoAbrOptions');
const LIVE: Documented[] = optionsOf('LiveOptions');
const ROWS = [...OPTIONS.map((row) => ({ ...row, isLive: false })), ...LIVE.map((row) => ({ ...row, isLive: true }))];
/** Beside what is received from the code, and expected by the comments. */
const COMMENTS = { ifTheyDiffer: 'change the comments in session/page/option-types.ts, then: npm run tables' };

/** The expectation of the error, or undefined if the value is accepted. */
function refusal(name: string, value: unknown, isLive: boolean): string | undefined {
  const options = { [name]: value };
  try {
    resolveOptions(isLive ? { live: options } : options);
  } catch (error) {
    return (error as { expected: string }).expected;
  }
  return undefined;
}

test.each([
  ['LeoAbrOptions', OPTIONS, false],
  ['LiveOptions', LIVE, true],
] as const)('%s has the options that an error lists', (_, documented, isLive) => {
  const options = refusal('unknown', 1, isLive)!.replace('one of ', '').split(', ').sort();
  expect({ ...COMMENTS, options }).toEqual({ ...COMMENTS, options: documented.map(({ option }) => option).sort() });
});

/** Values of each kind, with the types that accept them. */
const VALUES: [value: unknown, types: RegExp][] = [
  [true, /\bboolean\b/],
  [1, /\bnumber\b/],
  ['mpc-d', /\bControllerName\b|\bstring\b/],
  ['log', /'log'|\bstring\b/],
  ['auto', /'auto'|\bstring\b/],
  [null, /\bnull\b/],
  [() => {}, /=>|\bQualityOf\b/],
  [new URL('https://example.org'), /\bURL\b/],
  [[], /\[\]$/],
  [{}, /\bLiveOptions\b/],
  [{ representations: {} }, /\bSizesFile\b|\bLiveOptions\b/],
  [{ name: 'own', decide() {} }, /\bController\b|\bLiveOptions\b/],
  [{ now() {} }, /\bTimeSource\b|\bLiveOptions\b/],
  [{ warn() {} }, /\bLogger\b|\bLiveOptions\b/],
];
/** The fields of these options are also checked. */
const isNested = (name: string, value: unknown) =>
  ['live', 'sizes', 'quality'].includes(name) && typeof value === 'object' && Object.keys(value ?? {}).length > 0;

test.each(ROWS)('$option: values of its type, and no others, are accepted', ({ option, type, isLive }) => {
  const kinds = VALUES.filter(([value]) => !isNested(option, value));
  const values = kinds.filter(([value]) => refusal(option, value, isLive) === undefined);
  // The types of a function's arguments do not count.
  const own = type.replace(/\([^()]*\) =>/, '=>');
  expect({ ...COMMENTS, values }).toEqual({ ...COMMENTS, values: kinds.filter(([, types]) => types.test(own)) });
  expect(values.length).toBeGreaterThan(0);
});

const NUMBERS = ROWS.filter(({ type }) => /\bnumber\b/.test(type));
test.each(NUMBERS)('$option: its bounds are those of the check', ({ option, meaning, isLive }) => {
  const [bounds] = /-?[\d.]+ to [\w.]+/.exec(refusal(option, -1, isLive)!) ?? [];
  if (bounds === undefined) return expect(refusal(option, -1, isLive)).toMatch(/^a number > 0/);
  const stated = meaning.replace(/ \([^)]*\)/g, '');
  const expected = stated.includes(bounds) ? bounds : stated;
  expect({ ...COMMENTS, bounds }).toEqual({ ...COMMENTS, bounds: expected });
});

test('the defaults in numbers and names are those of the code', () => {
  const { risk, watchSeconds, abandon, maxWastedShare } = resolveMpcLOptions({});
  const code: Record<string, unknown> = { ...DEFAULTS, risk, watchSeconds, abandon, maxWastedShare };
  // The defaults of `live` are the player's.
  const { live, forecasters, ...plain } = code;
  expect([live, forecasters]).toEqual([{}, []]);
  const stated = OPTIONS.filter(({ default: words }) => /^(true|false|[\d.]+|`[\w-]+`)$/.test(words));
  // The host has the default of `logger`.
  const values = stated.filter(({ option }) => option !== 'logger').map((row) => [row.option, row.default]);
  const inWords = (value: unknown) => (typeof value === 'string' ? `\`${value}\`` : String(value));
  const defaults = Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, inWords(value)]));
  expect({ ...COMMENTS, defaults }).toEqual({ ...COMMENTS, defaults: Object.fromEntries(values) });
  expect(assemble(resolveOptions({}), HOST).logger).toBe(HOST.console);
});
