import { describe, expect, test } from '@jest/globals';
import { browserAlgorithm } from './algorithms.ts';

describe('browserAlgorithm', () => {
  test('names controllers, their forecasters and dash.js itself', () => {
    expect(browserAlgorithm('dynamic')).toEqual({});
    expect(browserAlgorithm('mpc-d')).toEqual({ controller: 'mpc-d' });
    expect(browserAlgorithm('mpc-o')).toEqual({ controller: 'mpc-o', forecaster: 'oracle' });
    expect(browserAlgorithm('mpc-d@oracle')).toEqual({ controller: 'mpc-d', forecaster: 'oracle' });
  });

  test('the error for an unknown name lists the known ones', () => {
    expect(() => browserAlgorithm('optimal')).toThrow(/--algorithms: expected one of .*mpc-d.*dynamic.*got "optimal"/);
    expect(() => browserAlgorithm('mpc-d@moon', '--baseline')).toThrow(
      /--baseline: expected one of mpc-d@oracle.*got "mpc-d@moon"/,
    );
  });
});
