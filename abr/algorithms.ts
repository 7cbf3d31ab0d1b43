/** The controllers by name, for `--algorithms` and the plugin's options. A new controller is one more row. */

import type { Controller } from './controller.ts';
import { check, requireInteger } from './errors.ts';
import { createMpcD } from './mpc/mpc-d.ts';
import { createMpcO } from './mpc/mpc-o.ts';
import { harmonicSpread, noStartup, withForecast } from './mpc-l/ablations.ts';
import { createLiveMpcL, type LiveMpcLOptions } from './mpc-l/live/live-mpc-l.ts';
import { PathPlan } from './mpc-l/live/path-plan.ts';
import { DEFAULT_RISK } from './mpc-l/options.ts';
import type { Objective } from './qoe/qoe.ts';
import { createBola } from './rules/bola.ts';
import { createThroughput } from './rules/throughput.ts';
import { MAX_HORIZON } from './state/horizon.ts';

/** Options of any controller; each controller uses the options that concern it. */
export interface ControllerOptions {
  /** Planned segments, a whole number from 1 to 20. Default: the controller's own, see `MpcDOptions`, `MpcLOptions`. */
  horizon?: number;
  /** Seed of everything random. Default 1. */
  seed?: number;
  /** Whether decisions carry an outlook of each representation. MPC-L's decisions do if it uses a forecast. Default false. */
  outlook?: boolean;
}

type Create = (options: ControllerOptions) => Controller;

/** Risks with their own names (`mpc-l:risk-0.25`), as in docs/results/mpc-l/risk.csv. */
const NAMED_RISKS = [0, 0.1, 0.25, 0.5, 1];

/** Medians of the watch time with their own names; `Infinity` plans as if nobody left. */
const NAMED_WATCH_SECONDS = [60, 120, Number.POSITIVE_INFINITY];

/** Prices of bits with their own names, in quality per Mbit/s, as pages set them with `saveData`. */
const NAMED_PRICES = [0.5, 1, 2, 4];

/** An MPC-L under its name in the table. */
const mpcL = (name: string, own: LiveMpcLOptions = {}): [string, Create] => [
  name,
  (options) => createLiveMpcL({ ...options, ...own, name }),
];

const ablation = (name: string, instead: Parameters<typeof withForecast>[1]): [string, Create] => [
  name,
  (options) => withForecast(createLiveMpcL({ ...options, name }), instead),
];

/** With MPC-L's aversion to risk, and its viewers, so that both pursue the same objective. */
const mpcO = (name: string): [string, Create] => [
  name,
  (options) => createMpcO({ ...options, name, live: new PathPlan({ risk: DEFAULT_RISK }) }),
];

const ALGORITHMS: ReadonlyMap<string, Create> = new Map([
  ['mpc-d', (options) => createMpcD({ ...options, live: new PathPlan() })],
  ['mpc-d:perceived', (options) => createMpcD({ ...options, name: 'mpc-d:perceived', live: new PathPlan() })],
  [
    'mpc-d:abandon',
    (options) => createMpcD({ ...options, name: 'mpc-d:abandon', abandon: true, live: new PathPlan() }),
  ],
  ['mpc-d:cap', (options) => createMpcD({ ...options, name: 'mpc-d:cap', bufferCap: true, live: new PathPlan() })],
  // The same on demand; live it does not know that playback begins with the first chunk.
  ['mpc-d:textbook', (options) => createMpcD({ ...options, name: 'mpc-d:textbook' })],
  mpcL('mpc-l'),
  mpcL('mpc-l:linear'),
  mpcL('mpc-l:log'),
  mpcL('mpc-l:auto-target', { autoTarget: true }),
  mpcL('mpc-l:no-rate', { rate: false }),
  mpcL('mpc-l:no-abandon', { abandon: false }),
  ablation('mpc-l:no-forecast', harmonicSpread),
  ablation('mpc-l:no-startup', noStartup),
  // The same controller: handovers are in the forecast, and the simulator gives this name a forecast without them.
  mpcL('mpc-l:no-handover'),
  // Likewise, with forecasts that know what the page loaded before.
  mpcL('mpc-l:page-load'),
  mpcL('mpc-l:horizon-16', { horizon: 16 }),
  mpcL('mpc-l:no-outages', { tuning: { outagesPerSecond: 0 } }),
  mpcL('mpc-l:patience-1.5', { tuning: { patienceSegments: 1.5 } }),
  ...NAMED_RISKS.map((risk) => mpcL(`mpc-l:risk-${risk}`, { risk })),
  ...NAMED_WATCH_SECONDS.map((watchSeconds) => mpcL(`mpc-l:watch-${watchSeconds}`, { watchSeconds })),
  // The same controller: the price is in the weights that the simulator gives this name.
  ...NAMED_PRICES.map((price) => mpcL(`mpc-l:saves-${price}`)),
  mpcO('mpc-o'),
  mpcO('mpc-o:linear'),
  ['bola', createBola],
  ['throughput', createThroughput],
] satisfies [string, Create][]);

const OPTION_NAMES: readonly string[] = ['horizon', 'seed', 'outlook'] satisfies (keyof ControllerOptions)[];

/** The names that `createController` accepts. */
export const ALGORITHM_NAMES: readonly string[] = [...ALGORITHMS.keys()];

/** The objective that a name stands for. The textbook's MPC-D and a user's own controllers plan on bitrates. */
export function objectiveOf(name: string): Objective {
  const asked = /:(perceived|linear|log)$/.exec(name)?.[1] as Objective | undefined;
  return asked ?? (/^mpc-[lo](:|$)/.test(name) ? 'perceived' : 'linear');
}

/** The price of bits that a name stands for, in quality per Mbit/s. */
export function pricePerMbpsOf(name: string): number {
  return Number(/:saves-([\d.]+)$/.exec(name)?.[1] ?? 0);
}

/**
 * A new controller, for one session. Throws `InputError` for an unknown name (the message lists the known ones) and for
 * an invalid option.
 */
export function createController(name: string, options: ControllerOptions = {}): Controller {
  const create = ALGORITHMS.get(name);
  check(create !== undefined, 'algorithm', `one of ${ALGORITHM_NAMES.join(', ')}`, name);
  for (const key of Object.keys(options)) {
    check(OPTION_NAMES.includes(key), `options.${key}`, `one of ${OPTION_NAMES.join(', ')}`, key);
  }
  const { horizon, seed, outlook } = options;
  if (horizon !== undefined) requireInteger(horizon, 'options.horizon', { min: 1, max: MAX_HORIZON });
  check(seed === undefined || Number.isFinite(seed), 'options.seed', 'a finite number', seed);
  check(outlook === undefined || typeof outlook === 'boolean', 'options.outlook', 'true or false', outlook);
  return create(options);
}
