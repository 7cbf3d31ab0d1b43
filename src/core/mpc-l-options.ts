/** The options of the package's main entry: MPC-L and its forecasts. */

import type { Controller } from '../../abr/controller.ts';
import { InputError } from '../../abr/errors.ts';
import type { Forecaster } from '../../abr/forecast.ts';
import { createMpcL } from '../../abr/mpc-l/mpc-l.ts';
import { createBuiltInForecaster } from '../../predictor/built-in/built-in-forecaster.ts';
import { createForecasting } from './forecasting.ts';
import { MPC_D_NAMES, type MpcDName, mpcDController } from './mpc-d-options.ts';
import {
  type Check,
  type Checks,
  COMMON_CHECKS,
  type CommonOptions,
  checkOptions,
  controllerCheck,
  has,
  type ResolvedOptions,
  resolveCommon,
} from './options.ts';
import { PriorForecaster } from './prior-forecaster.ts';

const MPC_L = 'mpc-l';

export type ControllerName = typeof MPC_L | MpcDName;

/** What `controller` may name. */
export const CONTROLLER_NAMES: readonly ControllerName[] = [MPC_L, ...MPC_D_NAMES];

/** MPC-L plans no further, whatever the buffer. */
const LONGEST_OWN_HORIZON = 16;

export interface LeoAbrOptions extends CommonOptions {
  /**
   * What decides: a name, or an object of your own. A named one is made anew for every source that the player is given;
   * an object is shared by all of them. Default `mpc-l`.
   */
  controller?: ControllerName | Controller;
  /** Of `mpc-l`: how much a stall is feared beyond its cost in QoE, 0 to 1. Default 0.1. */
  risk?: number;
  /** Of `mpc-l`: a download that is about to stall may be given up for a lower bitrate. Default true. */
  abandon?: boolean;
  /** Of `mpc-l`: largest share of the bits asked for in a session that this may waste, 0 to 1. Default 1, no limit. */
  maxWastedShare?: number;
  /** Of `mpc-l`: forecast from the first bytes on; without, the first decisions are MPC-D's. Default true. */
  startup?: boolean;
  /** Of `mpc-l`: use where handovers fall, once the link has shown that it has any. Default true. */
  handover?: boolean;
  /**
   * Of `mpc-l`: keep a few numbers on the link in localStorage, per origin of the stream, so that the next session need
   * not begin at the lowest bitrate. Default true.
   */
  prior?: boolean;
  /**
   * Forecasters of your own, asked in this order; for `mpc-l` the built-in one comes after them, for other controllers
   * they are all there is. Default: none.
   */
  forecasters?: readonly Forecaster[];
}

const SHARE: Check = [
  'a number from 0 to 1',
  (value) => Number(value) >= 0 && Number(value) <= 1 && typeof value === 'number',
];
const SWITCH: Check = ['true or false', (value) => typeof value === 'boolean'];

const MPC_L_CHECKS = {
  risk: SHARE,
  abandon: SWITCH,
  maxWastedShare: SHARE,
  startup: SWITCH,
  handover: SWITCH,
  prior: SWITCH,
};

const CHECKS: Checks<LeoAbrOptions> = {
  ...COMMON_CHECKS,
  ...MPC_L_CHECKS,
  controller: controllerCheck(CONTROLLER_NAMES),
  forecasters: ['an array', Array.isArray],
};

/** Throws an `InputError` (field, expected, received) for the first option that cannot be worked with. */
export function resolveOptions(options: LeoAbrOptions = {}): ResolvedOptions {
  checkOptions(options, CHECKS);
  const { controller = MPC_L, forecasters = [], handover = true, prior = true } = options;
  const common = resolveCommon(options);
  forecasters.forEach((one, i) => {
    const isOne = has(one, 'start', 'observe', 'latest');
    if (!isOne) throw new InputError(`options.forecasters[${i}]`, 'start(), observe() and latest()', one);
  });
  if (controller !== MPC_L) {
    for (const name of Object.keys(MPC_L_CHECKS)) {
      if (options[name as keyof LeoAbrOptions] !== undefined) {
        throw new InputError(`options.${name}`, 'controller mpc-l beside it', controller);
      }
    }
    return {
      ...common,
      ...mpcDController({ ...options, controller }),
      newForecasting: forecasters.length > 0 ? ({ events }) => createForecasting({ events, forecasters }) : undefined,
    };
  }
  const { seed } = common;
  const { horizon, risk, abandon, maxWastedShare, startup } = options;
  const given = Object.entries({ horizon, risk, abandon, maxWastedShare, startup }).filter(
    ([, value]) => value !== undefined,
  );
  return {
    ...common,
    horizon: horizon ?? LONGEST_OWN_HORIZON,
    controllerName: MPC_L,
    newController: () => createMpcL({ ...Object.fromEntries(given), seed }),
    newForecasting({ events, origin }) {
      const builtIn = createBuiltInForecaster({ handover });
      const ofEarlier = prior ? new PriorForecaster({ origin, storage: () => globalThis.localStorage }) : undefined;
      return createForecasting({
        events,
        forecasters: [...forecasters, builtIn, ...(ofEarlier ? [ofEarlier] : [])],
        onStop: () => ofEarlier?.save(),
      });
    },
  };
}
