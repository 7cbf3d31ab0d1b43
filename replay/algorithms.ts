/** The algorithms of a replay by name, and a name's parts: `<controller>[:<catch-up>][@<forecaster>][@<player>]`. */

import type { Controller } from '../abr/controller.ts';
import { check, InputError, unknownName } from '../abr/errors.ts';
import { createMpcD, type MpcDOptions } from '../abr/mpc/mpc-d.ts';
import { MpcO } from '../abr/mpc/mpc-o.ts';
import { createLiveMpcL } from '../abr/mpc-l/live/live-mpc-l.ts';
import { PathPlan } from '../abr/mpc-l/live/path-plan.ts';
import { DEFAULT_RISK, type MpcLOptions } from '../abr/mpc-l/options.ts';
import { USUAL_PRICE_PER_MBPS } from '../abr/qoe/perceived-qoe.ts';
import type { Objective } from '../abr/qoe/qoe.ts';
import { withoutForecast, withoutPace } from './ablations.ts';
import type { CatchUp } from './catch-up.ts';
import { isOwnAlgorithm, type OwnControllers } from './own-algorithm.ts';
import { Bola } from './rivals/bola.ts';
import { createBolaE, createDynamic } from './rivals/dash-js/dash-rules.ts';
import { Throughput } from './rivals/throughput.ts';

/**
 * `oracle`: the true future. `built-in`: the plugin's forecaster, with or without its handover clock; it uses the model
 * of `--fold-models`, if given. `shipped`: the plugin's forecaster with its own model. `onnx`: the shipped model as an
 * ONNX file. `service`: a prediction service on the link (in browsers).
 */
const FORECASTER_NAMES = ['oracle', 'built-in', 'built-in:no-handover', 'shipped', 'onnx', 'service'] as const;
export type OnnxName = 'onnx' | `onnx:${string}`;
export type ForecasterName = (typeof FORECASTER_NAMES)[number] | OnnxName;

export function isOnnx(forecaster: string | undefined): forecaster is OnnxName {
  return forecaster === 'onnx' || /^onnx:./.test(forecaster ?? '');
}

export const PLAYERS = ['dash', 'hls', 'shaka'] as const;
export type PlayerName = (typeof PLAYERS)[number];

/** Options of a controller by name, which ignores those that do not concern it. */
export interface ControllerOptions {
  /** Planned segments, 1 to 20. Default: see `MpcDOptions`, `MpcLOptions`. */
  horizon?: number;
  /** Seed of everything random. Default 1. */
  seed?: number;
}

/** What a name plans on. MPC-D and a user's own controllers plan on bitrates by default. */
export interface Plan {
  /** Default `linear`. */
  objective?: Objective;
  /** Price of bits, in quality per Mbit/s, which only `perceived` has. Default: the plugin's. */
  pricePerMbps?: number;
}

interface Known extends Plan {
  /** Without it only a browser plays the algorithm. */
  create?: (options: ControllerOptions) => Controller;
  /** The forecaster of the name alone. Others may replace `built-in`. Default: it plans without forecasts. */
  forecaster?: ForecasterName | undefined;
  /** It is this player's own ABR, which a browser plays without the plugin. */
  ownOf?: PlayerName;
  /** The stream lists no sizes, so the session learns them. Only the simulator plays it. */
  learnsSizes?: boolean;
}

/** Values in names: risks (`mpc-l:risk-0.25`), median watch times in seconds, prices in quality per Mbit/s. */
const NAMED_RISKS = [0, 0.1, 0.25, 0.5, 1];
const NAMED_WATCH_SECONDS = [60, 120, Number.POSITIVE_INFINITY];
const NAMED_PRICES = [0, 0.25, 0.5, 1, 2];

const mpcL = (name: string, own: MpcLOptions = {}, known: Known = {}): [string, Known] => {
  const create = (options: ControllerOptions) => createLiveMpcL({ ...options, ...own, name });
  return [name, { objective: 'perceived', forecaster: 'built-in', create, ...known }];
};

const NO_FORECAST: Known = {
  forecaster: undefined,
  create: (options) => withoutForecast(createLiveMpcL({ ...options, name: 'mpc-l:no-forecast' })),
};

const NO_RATE: Known = {
  create: (options) => withoutPace(createLiveMpcL({ ...options, name: 'mpc-l:no-rate' })),
};

const mpcD = (name: string, own: MpcDOptions = {}, known: Known = {}): [string, Known] => {
  const create = (options: ControllerOptions) => createMpcD({ ...options, live: new PathPlan(), ...own, name });
  return [name, { create, ...known }];
};

/** MPC-O has MPC-L's objective and viewers, live also its aversion to risk. On demand a stall has its price alone. */
const mpcO = (name: string, objective: Objective): [string, Known] => {
  const create = (options: ControllerOptions) =>
    new MpcO({ ...options, name, live: new PathPlan({ risk: DEFAULT_RISK }) });
  return [name, { objective, forecaster: 'oracle', create }];
};

const KNOWN: ReadonlyMap<string, Known> = new Map<string, Known>([
  mpcD('mpc-d'),
  mpcD('mpc-d:perceived', {}, { objective: 'perceived' }),
  mpcD('mpc-d:abandon', { abandon: true }),
  mpcD('mpc-d:cap', { bufferCap: true }),
  // Live, the textbook's plan does not know that playback begins with the first chunk.
  mpcD('mpc-d:textbook', { live: undefined }),
  mpcL('mpc-l'),
  mpcL('mpc-l:linear', {}, { objective: 'linear' }),
  mpcL('mpc-l:log', {}, { objective: 'log' }),
  mpcL('mpc-l:no-rate', {}, NO_RATE),
  mpcL('mpc-l:no-abandon', { abandon: false }),
  mpcL('mpc-l:no-forecast', {}, NO_FORECAST),
  mpcL('mpc-l:no-handover', {}, { forecaster: 'built-in:no-handover' }),
  mpcL('mpc-l:no-sizes', {}, { learnsSizes: true }),
  mpcL('mpc-l:no-outages', { tuning: { outagesPerSecond: 0 } }),
  ...NAMED_RISKS.map((risk) => mpcL(`mpc-l:risk-${risk}`, { risk })),
  ...NAMED_WATCH_SECONDS.map((watchSeconds) => mpcL(`mpc-l:watch-${watchSeconds}`, { watchSeconds })),
  ...NAMED_PRICES.map((pricePerMbps) => mpcL(`mpc-l:saves-${pricePerMbps}`, {}, { pricePerMbps })),
  mpcO('mpc-o', 'perceived'),
  mpcO('mpc-o:linear', 'linear'),
  ['bola', { create: () => new Bola() }],
  ['throughput', { create: () => new Throughput() }],
  // A browser plays the other names with the players themselves. The first two are rebuilt for the simulator.
  ['bola-e', { ownOf: 'dash', create: createBolaE }],
  ['dynamic', { ownOf: 'dash', create: createDynamic }],
  ['l2a', { ownOf: 'dash' }],
  ['lolp', { ownOf: 'dash' }],
  ['hls', { ownOf: 'hls' }],
  ['shaka', { ownOf: 'shaka' }],
]);

const namesWhere = (holds: (known: Known) => unknown): readonly string[] =>
  [...KNOWN].filter(([, known]) => holds(known)).map(([name]) => name);

/** The names with a controller of their own, which every host plays. */
export const ALGORITHM_NAMES = namesWhere(({ ownOf }) => !ownOf);
export const SIMULATED_NAMES = namesWhere(({ create }) => create);
/** `hls` and `shaka` are for one player only. */
export const BROWSER_ALGORITHMS = namesWhere(({ ownOf = 'dash', learnsSizes }) => ownOf === 'dash' && !learnsSizes);

/** A new controller for one session. Throws an `InputError` for an unknown name, with all known names. */
export function createController(name: string, options: ControllerOptions = {}): Controller {
  const create = KNOWN.get(name)?.create;
  if (create === undefined) throw unknownName('algorithm', SIMULATED_NAMES, name);
  return create(options);
}

/** A name's parts, and what follows from them. */
export interface Algorithm extends Required<Plan> {
  /** A name of this file, a user's file, or something unknown: `isKnown` and `isOwn` are false then. */
  controller: string;
  isKnown: boolean;
  /** The controller is in a user's file. */
  isOwn: boolean;
  ownOf: PlayerName | undefined;
  learnsSizes: boolean | undefined;
  forecaster: ForecasterName | undefined;
  /** What the controller plans on if it gets the oracle. */
  oracleForm: 'path' | 'quantiles';
  /** The catch-up in the name. */
  catchUp: CatchUp | undefined;
  /** The player in the name. */
  player: PlayerName | undefined;
}

export function splitPlayer(given: string): { name: string; player: PlayerName | undefined } {
  const player = PLAYERS.find((known) => given.endsWith(`@${known}`));
  return { name: player === undefined ? given : given.slice(0, -player.length - 1), player };
}

/** Returns a name as in results: `<name>@<player>`, without `@dash`. `player` is the default. */
export function nameInPlayer(given: string, player: PlayerName): string {
  const { name, player: used = player } = splitPlayer(given);
  return used === 'dash' ? name : `${name}@${used}`;
}

const GONE = ['mpc-l:auto-target', 'mpc-l:page-load', 'mpc-l:no-startup', 'mpc-l:patience-1.5'];
const CATCH_UP_ENDING = ':lolp-catch-up';

/**
 * Parses `<controller>`, `<controller>@<forecaster>`, and either with `:lolp-catch-up` after the controller, and with
 * `@<player>` at the end; a file's path may contain an `@`.
 * @throws {InputError} of `field` for an unknown forecaster, or one that the controller would not use.
 */
export function parseAlgorithm(given: string, field: string): Algorithm {
  const { name, player } = splitPlayer(given);
  const onnxAt = name.search(/@onnx:./);
  const at = onnxAt >= 0 ? onnxAt : /\.(ts|js|mjs)(:[a-z-]+)*$/.test(name) ? -1 : name.lastIndexOf('@');
  const ended = at < 0 ? name : name.slice(0, at);
  const catchUp: CatchUp | undefined = ended.endsWith(CATCH_UP_ENDING) ? 'lolp' : undefined;
  const controller = catchUp ? ended.slice(0, -CATCH_UP_ENDING.length) : ended;
  check(!GONE.includes(controller), field, 'mpc-l, because this ablation is gone since 0.4.0', given);
  const known = KNOWN.get(controller);
  const {
    objective = 'linear',
    pricePerMbps = USUAL_PRICE_PER_MBPS,
    forecaster: usual,
    ownOf,
    learnsSizes,
  } = known ?? {};
  const asked = at < 0 ? usual : name.slice(at + 1);
  const forecaster = isOnnx(asked) ? asked : FORECASTER_NAMES.find((one) => one === asked);
  if (asked !== undefined && forecaster === undefined) {
    const names = FORECASTER_NAMES.map((one) => `${ended}@${one}`);
    throw new InputError(field, `one of ${names.join(', ')}, or @onnx:<file>`, given);
  }
  const isUnused = known && usual === undefined && forecaster !== undefined;
  check(!isUnused, field, `${controller} alone: it plans without forecasts`, given);
  const isOther = usual !== undefined && usual !== 'built-in' && usual !== forecaster;
  check(!isOther, field, `${controller} with @${usual} or nothing`, given);
  return {
    ...{ controller, isKnown: known !== undefined, isOwn: isOwnAlgorithm(controller), ownOf, objective, pricePerMbps },
    ...{ forecaster, oracleForm: usual === 'built-in' ? 'quantiles' : 'path', catchUp, player, learnsSizes },
  };
}

/** A new controller of an algorithm for one session; `own` has the user's. */
export function controllerOf({ controller }: Algorithm, seed: number, own?: OwnControllers): Controller {
  return own?.get(controller)?.({ seed }) ?? createController(controller, { seed });
}
