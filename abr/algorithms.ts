/** The controllers by name, for `--algorithms` and the plugin's options. */

import type { Controller } from './controller.ts';
import { check, requireInteger, unknownName } from './errors.ts';
import { createMpcD, type MpcDOptions } from './mpc/mpc-d.ts';
import { MpcO } from './mpc/mpc-o.ts';
import { harmonicSpread, noStartup, withForecast } from './mpc-l/ablations.ts';
import { createLiveMpcL, type LiveMpcLOptions } from './mpc-l/live/live-mpc-l.ts';
import { PathPlan } from './mpc-l/live/path-plan.ts';
import { DEFAULT_RISK } from './mpc-l/options.ts';
import { USUAL_PRICE_PER_MBPS } from './qoe/perceived-qoe.ts';
import type { Objective } from './qoe/qoe.ts';
import { Bola } from './rules/bola.ts';
import { Throughput } from './rules/throughput.ts';
import { MAX_HORIZON } from './state/horizon.ts';

/** Options of any controller. A controller ignores options that do not concern it. */
export interface ControllerOptions {
  /** Planned segments, a whole number from 1 to 20. Default: see `MpcDOptions`, `MpcLOptions`. */
  horizon?: number;
  /** Seed of everything random. Default 1. */
  seed?: number;
  /** Whether decisions have `candidates`. MPC-L's decisions on a forecast always have them. Default false. */
  outlook?: boolean;
}

type Create = (options: ControllerOptions) => Controller;

/** Values in names: risks (`mpc-l:risk-0.25`), median watch times in seconds, prices in quality per Mbit/s. */
const NAMED_RISKS = [0, 0.1, 0.25, 0.5, 1];
const NAMED_WATCH_SECONDS = [60, 120, Number.POSITIVE_INFINITY];
const NAMED_PRICES = [0, 0.25, 0.5, 1, 2];

const mpcL = (name: string, own: LiveMpcLOptions = {}): [string, Create] => [
  name,
  (options) => createLiveMpcL({ ...options, ...own, name }),
];

const ablation = (name: string, instead: Parameters<typeof withForecast>[1]): [string, Create] => [
  name,
  (options) => withForecast(createLiveMpcL({ ...options, name }), instead),
];

const mpcD = (name: string, own: MpcDOptions = {}): [string, Create] => [
  name,
  (options) => createMpcD({ ...options, live: new PathPlan(), ...own, name }),
];

/** MPC-O has MPC-L's aversion to risk and its viewers, so that both pursue the same objective. */
const mpcO = (name: string): [string, Create] => [
  name,
  (options) => new MpcO({ ...options, name, live: new PathPlan({ risk: DEFAULT_RISK }) }),
];

const ALGORITHMS: ReadonlyMap<string, Create> = new Map([
  mpcD('mpc-d'),
  mpcD('mpc-d:perceived'),
  mpcD('mpc-d:abandon', { abandon: true }),
  mpcD('mpc-d:cap', { bufferCap: true }),
  // Live, the textbook's plan does not know that playback begins with the first chunk.
  mpcD('mpc-d:textbook', { live: undefined }),
  mpcL('mpc-l'),
  mpcL('mpc-l:linear'),
  mpcL('mpc-l:log'),
  mpcL('mpc-l:no-rate', { rate: false }),
  mpcL('mpc-l:no-abandon', { abandon: false }),
  ablation('mpc-l:no-forecast', harmonicSpread),
  ablation('mpc-l:no-startup', noStartup),
  // For this name the simulator's forecasts have no handovers.
  mpcL('mpc-l:no-handover'),
  mpcL('mpc-l:no-outages', { tuning: { outagesPerSecond: 0 } }),
  mpcL('mpc-l:patience-1.5', { tuning: { patienceSegments: 1.5 } }),
  ...NAMED_RISKS.map((risk) => mpcL(`mpc-l:risk-${risk}`, { risk })),
  ...NAMED_WATCH_SECONDS.map((watchSeconds) => mpcL(`mpc-l:watch-${watchSeconds}`, { watchSeconds })),
  // For these names the simulator puts the price into the weights.
  ...NAMED_PRICES.map((price) => mpcL(`mpc-l:saves-${price}`)),
  mpcO('mpc-o'),
  mpcO('mpc-o:linear'),
  ['bola', () => new Bola()],
  ['throughput', () => new Throughput()],
] satisfies [string, Create][]);

const OPTION_NAMES: readonly string[] = ['horizon', 'seed', 'outlook'] satisfies (keyof ControllerOptions)[];

/** The names that `createController` accepts. */
export const ALGORITHM_NAMES: readonly string[] = [...ALGORITHMS.keys()];

/** The objective in a name. MPC-D and a user's own controllers plan on bitrates by default. */
export function objectiveOf(name: string): Objective {
  const asked = /:(perceived|linear|log)$/.exec(name)?.[1] as Objective | undefined;
  return asked ?? (/^mpc-[lo](:|$)/.test(name) ? 'perceived' : 'linear');
}

/** The price of bits in a name, in quality per Mbit/s; the plugin's default without one. Only `perceived` has it. */
export function pricePerMbpsOf(name: string): number {
  return Number(/:saves-([\d.]+)$/.exec(name)?.[1] ?? USUAL_PRICE_PER_MBPS);
}

/** A new controller for one session. Throws `InputError` for an unknown name (with all known names) or an invalid option. */
export function createController(name: string, options: ControllerOptions = {}): Controller {
  const create = ALGORITHMS.get(name);
  if (create === undefined) throw unknownName('algorithm', ALGORITHM_NAMES, name);
  for (const key of Object.keys(options)) {
    if (!OPTION_NAMES.includes(key)) throw unknownName(`options.${key}`, OPTION_NAMES, key);
  }
  const { horizon, seed, outlook } = options;
  if (horizon !== undefined) requireInteger(horizon, 'options.horizon', { min: 1, max: MAX_HORIZON });
  check(seed === undefined || Number.isFinite(seed), 'options.seed', 'a finite number', seed);
  check(outlook === undefined || typeof outlook === 'boolean', 'options.outlook', 'true or false', outlook);
  return create(options);
}
