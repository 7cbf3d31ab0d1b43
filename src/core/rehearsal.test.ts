import { expect, test } from '@jest/globals';
import type { Decision } from '../../abr/controller.ts';
import { createMpcL } from '../../abr/mpc-l/mpc-l.ts';
import { createBuiltInForecaster } from '../../predictor/built-in/built-in-forecaster.ts';
import { rehearse } from './rehearsal.ts';

test('MPC-L plans with the built-in forecast', () => {
  const mpcL = createMpcL();
  const decisions: Decision[] = [];
  const decide: typeof mpcL.decide = (state, forecast) => {
    decisions.push(mpcL.decide(state, forecast));
    return decisions[0]!;
  };
  rehearse({ name: 'recorded', decide }, createBuiltInForecaster());
  expect(decisions).toEqual([expect.objectContaining({ controller: 'mpc-l', forecastSource: 'built-in' })]);
});
