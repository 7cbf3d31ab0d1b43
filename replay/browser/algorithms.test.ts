import { describe, expect, test } from '@jest/globals';
import { DEFAULT_CATCH_UP } from '../catch-up.ts';
import { browserAlgorithm } from './algorithms.ts';

describe('browserAlgorithm', () => {
  test('names controllers, their forecasters and dash.js itself', () => {
    expect(browserAlgorithm('dynamic')).toEqual({ catchUp: DEFAULT_CATCH_UP });
    expect(browserAlgorithm('mpc-d')).toEqual({ controller: 'mpc-d' });
    expect(browserAlgorithm('mpc-o')).toEqual({ controller: 'mpc-o', forecaster: 'oracle' });
    expect(browserAlgorithm('mpc-d@oracle')).toEqual({ controller: 'mpc-d', forecaster: 'oracle' });
    expect(browserAlgorithm('mpc-l:no-rate')).toEqual({ controller: 'mpc-l:no-rate', forecaster: 'built-in' });
  });

  test("names dash.js's rules for low latency and catch-ups", () => {
    const [slots, lolp] = [
      { law: 'default', fixedSlots: true },
      { law: 'lolp', fixedSlots: false },
    ];
    expect(browserAlgorithm('dynamic:fixed-slots')).toEqual({ catchUp: slots });
    expect(browserAlgorithm('lolp')).toEqual({ rule: 'loLPRule', catchUp: lolp });
    expect(browserAlgorithm('lolp:fixed-slots')).toMatchObject({ catchUp: { law: 'lolp', fixedSlots: true } });
    expect(browserAlgorithm('l2a:lolp-catch-up')).toEqual({ rule: 'l2ARule', catchUp: lolp });
    expect(browserAlgorithm('mpc-d:fixed-slots@oracle')).toMatchObject({ controller: 'mpc-d', catchUp: slots });
    expect(() => browserAlgorithm('lolp@oracle')).toThrow(/--algorithms: expected one of .*lolp.*got "lolp@oracle"/);
  });

  test('the error for an unknown name lists the known ones', () => {
    expect(() => browserAlgorithm('optimal')).toThrow(/--algorithms: expected one of .*mpc-d.*dynamic.*got "optimal"/);
    expect(() => browserAlgorithm('mpc-d@moon', '--baseline')).toThrow(
      /--baseline: expected one of mpc-d@oracle.*got "mpc-d@moon"/,
    );
  });
});
