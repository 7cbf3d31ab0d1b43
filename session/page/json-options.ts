/** The checks of options that JSON can hold, in a page and in a trial's configuration. */

import type { Objective } from '../../abr/qoe/qoe.ts';
import { MAX_HORIZON } from '../../abr/state/facts.ts';
import { type Check, isFrom, isWhole, SWITCH } from './checks.ts';

const OBJECTIVES: readonly unknown[] = ['perceived', 'log', 'linear'] satisfies Objective[];
const SAVES: readonly unknown[] = ['auto', true, false];
const isPrice = (value: unknown) => typeof value === 'number' && value >= 0 && value <= 100;

/** Options of `mpc-l` alone. */
export const MPC_L_CHECKS = {
  risk: isFrom(0, 1),
  watchSeconds: isFrom(1, Number.POSITIVE_INFINITY),
  abandon: SWITCH,
  maxWastedShare: isFrom(0, 1),
  prior: SWITCH,
  pageLoad: SWITCH,
};

/** `mpc-l` takes all of these together. */
export const JSON_CHECKS = {
  horizon: isWhole(1, MAX_HORIZON),
  qoe: ['perceived, log or linear', (value: unknown) => OBJECTIVES.includes(value)] as Check,
  saveData: [
    'auto, true, false or a price from 0 to 100',
    (value: unknown) => SAVES.includes(value) || isPrice(value),
  ] as Check,
  ...MPC_L_CHECKS,
};
