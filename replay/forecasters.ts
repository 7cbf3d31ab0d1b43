/** The parts of an algorithm's name in a replay: `<controller>[:<catch-up>][@<forecaster>][@<player>]`. */

import { check, InputError } from '../abr/errors.ts';
import type { CatchUp } from './catch-up.ts';

/**
 * `oracle`: the true future. `built-in`: the plugin's forecaster, with or without its handover clock; it uses the model
 * of `--fold-models`, if given. `shipped`: the plugin's forecaster with its own model. `onnx`: the shipped model as an
 * ONNX file. `service`: a prediction service on the link (in browsers).
 */
const FORECASTER_NAMES = ['oracle', 'built-in', 'built-in:no-handover', 'shipped', 'onnx', 'service'] as const;
const ONNX_FILE = /^onnx:./;
export type OnnxName = 'onnx' | `onnx:${string}`;
export type ForecasterName = (typeof FORECASTER_NAMES)[number] | OnnxName;

export function isOnnx(forecaster: string | undefined): forecaster is OnnxName {
  return forecaster === 'onnx' || ONNX_FILE.test(forecaster ?? '');
}

/** The names that plan on the true future, and those that plan without forecasts. */
const ORACLE_NAME = /^mpc-o(:|$)/;
const WITHOUT_FORECASTS = /^(mpc-d|bola|bola-e|throughput|dynamic)(:|$)|^mpc-l:no-forecast$/;

export const PLAYERS = ['dash', 'hls', 'shaka'] as const;
export type PlayerName = (typeof PLAYERS)[number];

function defaultForecaster(controller: string): ForecasterName | undefined {
  if (ORACLE_NAME.test(controller)) return 'oracle';
  if (controller === 'mpc-l:no-handover') return 'built-in:no-handover';
  return /^mpc-l(?!:no-forecast$)/.test(controller) ? 'built-in' : undefined;
}

export function splitPlayer(given: string): { name: string; player: PlayerName | undefined } {
  const player = PLAYERS.find((known) => given.endsWith(`@${known}`));
  return { name: player === undefined ? given : given.slice(0, -player.length - 1), player };
}

const GONE = /^mpc-l:(auto-target|page-load)(@|:|$)/;
const CATCH_UP_ENDING = ':lolp-catch-up';

/**
 * Splits `<controller>`, `<controller>@<forecaster>`, and either with `:lolp-catch-up` after the controller, and with
 * `@<player>` at the end; a file's path may contain an `@`. `catchUp` and `player` are undefined without them. Does not
 * check the controller.
 * @throws {InputError} of `field` for an unknown forecaster, or one that the controller would not use.
 */
export function splitAlgorithm(given: string, field: string) {
  const { name, player } = splitPlayer(given);
  check(!GONE.test(name), field, 'mpc-l, because this ablation is gone since 0.3.0', given);
  const onnxAt = name.search(/@onnx:./);
  const at = onnxAt >= 0 ? onnxAt : /\.(ts|js|mjs)(:[a-z-]+)*$/.test(name) ? -1 : name.lastIndexOf('@');
  const ended = at < 0 ? name : name.slice(0, at);
  const catchUp: CatchUp | undefined = ended.endsWith(CATCH_UP_ENDING) ? 'lolp' : undefined;
  const controller = catchUp ? ended.slice(0, -CATCH_UP_ENDING.length) : ended;
  const wanted = at < 0 ? defaultForecaster(controller) : name.slice(at + 1);
  const forecaster: ForecasterName | undefined = isOnnx(wanted)
    ? wanted
    : FORECASTER_NAMES.find((known) => known === wanted);
  if (wanted !== undefined && forecaster === undefined) {
    const known = FORECASTER_NAMES.map((forecasterName) => `${name.slice(0, at)}@${forecasterName}`);
    throw new InputError(field, `one of ${known.join(', ')}, or @onnx:<file>`, given);
  }
  const needed = defaultForecaster(controller);
  const isOther = needed !== undefined && needed !== 'built-in' && needed !== forecaster;
  check(!isOther, field, `${controller} with @${needed} or nothing`, given);
  const isUnused = forecaster !== undefined && WITHOUT_FORECASTS.test(controller);
  check(!isUnused, field, `${controller} alone: it plans without forecasts`, given);
  return { controller, forecaster, catchUp, player };
}
