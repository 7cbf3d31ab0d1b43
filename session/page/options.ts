/** The checks and defaults of a page's options. */

import { check, isPositive } from '../../abr/errors.ts';
import { parseLists, parseSizes, QUALITY_LISTS } from '../segment-lists.ts';
import {
  type Check,
  type Checks,
  checkOptions,
  gone,
  has,
  isFrom,
  isPlain,
  isText,
  isWhole,
  SWITCH,
} from './checks.ts';
import { JSON_CHECKS, MPC_L_CHECKS } from './json-options.ts';
import { CONTROLLER_NAMES, type LeoAbrOptions, type LiveOptions } from './option-types.ts';

const LARGEST_SEED = 2 ** 32 - 1;
export const MPC_L = 'mpc-l';

const GONE: Check = ['qoe or a controller (not this since 0.4.0)', gone];
const BUILT_IN: Check = ['nothing (not an option since 0.3.0: leave it out)', gone];
const isFile = (value: unknown) => value instanceof URL || isText(value) || isPlain(value);

const CHECKS: Checks<LeoAbrOptions & Record<'weights' | 'observed' | 'startup' | 'handover', undefined>> = {
  ...JSON_CHECKS,
  controller: [
    `${CONTROLLER_NAMES.join(', ')} or an object with decide()`,
    (value) => (CONTROLLER_NAMES as readonly unknown[]).includes(value) || has(value, 'decide'),
  ],
  forecasters: ['an array', Array.isArray],
  quality: ['a URL, an object or a function', (value) => isFile(value) || typeof value === 'function'],
  timeSource: ['now()', (value) => has(value, 'now')],
  sizes: ['a URL or an object', isFile],
  live: ['an object', isPlain],
  cmcd: SWITCH,
  seed: isWhole(0, LARGEST_SEED),
  storage: SWITCH,
  debug: ['true, false or a function', (value) => typeof value === 'boolean' || typeof value === 'function'],
  logger: ['warn() or null', (value) => value === null || has(value, 'warn')],
  weights: GONE,
  observed: GONE,
  startup: BUILT_IN,
  handover: BUILT_IN,
};

const LIVE_CHECKS: Checks<LiveOptions> = {
  minPlaybackRate: isFrom(0.5, 1),
  maxPlaybackRate: isFrom(1, 2),
  targetLatencySeconds: ['a number > 0 (not auto since 0.4.0: leave it out)', isPositive],
  maxLatencySeconds: ['a number > 0', isPositive],
};

/** The controller (abr/mpc-l/options.ts) and the host have the other defaults. */
export const DEFAULTS = {
  cmcd: false,
  controller: MPC_L,
  debug: false,
  forecasters: [],
  live: {},
  pageLoad: false,
  prior: true,
  saveData: 'auto',
  seed: 1,
  storage: true,
} as const satisfies LeoAbrOptions;

/** The options of a page, with defaults. */
export type PageOptions = LeoAbrOptions & Required<Pick<LeoAbrOptions, keyof typeof DEFAULTS>>;

/** Throws an `InputError` (field, expected, received) for the first invalid option. */
export function resolveOptions(given: LeoAbrOptions = {}): PageOptions {
  checkOptions(given, CHECKS);
  const options = withDefaults(given);
  const { controller, sizes, live } = options;
  checkOptions(live, LIVE_CHECKS, 'options.live');
  if (typeof sizes === 'object' && !(sizes instanceof URL)) parseSizes(sizes);
  if (isPlain(options.quality)) parseLists(options.quality, QUALITY_LISTS);
  // A loop, because `forEach` skips holes.
  for (const [i, one] of options.forecasters.entries()) {
    check(has(one, 'start', 'observe', 'latest'), `options.forecasters[${i}]`, 'start(), observe() and latest()', one);
  }
  if (controller !== MPC_L) {
    for (const name of Object.keys(MPC_L_CHECKS)) {
      const isAbsent = given[name as keyof LeoAbrOptions] === undefined;
      check(isAbsent, `options.${name}`, 'controller mpc-l beside it', controller);
    }
  }
  return options;
}

function withDefaults(given: LeoAbrOptions): PageOptions {
  const options: Record<string, unknown> = { ...given };
  for (const name in DEFAULTS) options[name] ??= DEFAULTS[name as keyof typeof DEFAULTS];
  return options as unknown as PageOptions;
}
