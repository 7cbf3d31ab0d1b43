/** The controllers by name: what `--algorithms` and the plugin's options accept. A new one is one more row. */

import { createBola } from './bola.ts';
import type { Controller } from './controller.ts';
import { InputError, requireInteger } from './errors.ts';
import { createMpcD } from './mpc-d.ts';
import { createMpcL } from './mpc-l.ts';
import { createMpcO } from './mpc-o.ts';
import { MAX_HORIZON } from './planner.ts';
import { createThroughput } from './throughput.ts';

/** What any controller may be told; each takes what concerns it. */
export interface ControllerOptions {
  /** Segments planned ahead, a whole number from 1 to 20. Default 5. */
  horizon?: number;
  /** Seed of whatever is random. Default 1. */
  seed?: number;
  /** Decisions carry what each representation was expected to bring; costs some microseconds. Default false. */
  outlook?: boolean;
}

/** Risks that have a name of their own, for the curve of mean against tail: `mpc-l:risk-0.25`. */
const NAMED_RISKS = [0, 0.05, 0.25, 0.5, 1];

const ALGORITHMS: Readonly<Record<string, (options: ControllerOptions) => Controller>> = {
  'mpc-d': (options) => createMpcD(options),
  'mpc-d:abandon': (options) => createMpcD({ ...options, abandon: true }),
  'mpc-d:cap': (options) => createMpcD({ ...options, bufferCap: true }),
  'mpc-l': (options) => createMpcL({ ...options, name: 'mpc-l' }),
  'mpc-l:no-abandon': (options) => createMpcL({ ...options, name: 'mpc-l:no-abandon', abandon: false }),
  'mpc-l:no-forecast': (options) => createMpcL({ ...options, name: 'mpc-l:no-forecast', forecast: false }),
  'mpc-l:no-startup': (options) => createMpcL({ ...options, name: 'mpc-l:no-startup', startup: false }),
  // The same controller: the handover is in the forecast, and whoever plays it attaches one without.
  'mpc-l:no-handover': (options) => createMpcL({ ...options, name: 'mpc-l:no-handover' }),
  ...Object.fromEntries(
    NAMED_RISKS.map((risk) => [
      `mpc-l:risk-${risk}`,
      (options: ControllerOptions) => createMpcL({ ...options, name: `mpc-l:risk-${risk}`, risk }),
    ]),
  ),
  'mpc-o': (options) => createMpcO(options),
  bola: () => createBola(),
  throughput: () => createThroughput(),
};

const OPTION_NAMES: readonly string[] = ['horizon', 'seed', 'outlook'] satisfies (keyof ControllerOptions)[];

/** Names that `createController` knows. */
export const ALGORITHM_NAMES: readonly string[] = Object.keys(ALGORITHMS);

/**
 * A controller of its own for one session. Throws `InputError` for an unknown name (saying which are known) and for an
 * option that cannot be worked with.
 */
export function createController(name: string, options: ControllerOptions = {}): Controller {
  const create = Object.hasOwn(ALGORITHMS, name) ? ALGORITHMS[name] : undefined;
  if (create === undefined) throw new InputError('algorithm', `one of ${ALGORITHM_NAMES.join(', ')}`, name);
  for (const key of Object.keys(options)) {
    if (!OPTION_NAMES.includes(key)) throw new InputError(`options.${key}`, `one of ${OPTION_NAMES.join(', ')}`, key);
  }
  const { horizon, seed, outlook } = options;
  if (horizon !== undefined) requireInteger(horizon, 'options.horizon', { min: 1, max: MAX_HORIZON });
  if (seed !== undefined && !Number.isFinite(seed)) throw new InputError('options.seed', 'a finite number', seed);
  if (outlook !== undefined && typeof outlook !== 'boolean') {
    throw new InputError('options.outlook', 'true or false', outlook);
  }
  return create(options);
}
