import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ConstantPath } from '../../abr/capacity-path.ts';
import type { Forecast, Forecaster, QuantileForecast } from '../../abr/forecast.ts';
import { validForecast } from '../../abr/valid-forecast.ts';
import { ForecastChain, type ForecasterFault } from './chain.ts';

const FORECAST: QuantileForecast = {
  issuedAtMs: 10_000,
  source: 'test',
  stepEndsSeconds: [1, 4],
  levels: [0.1, 0.5, 0.9],
  quantilesBps: [
    [1e6, 2e6, 3e6],
    [0, 2e6, 4e6],
  ],
  rankCorrelation: 0.7,
  handovers: [{ atMs: 12_000, confidence: 0.9 }],
};

function publishing(name: string, forecast: unknown): Forecaster {
  return { name, start() {}, observe() {}, latest: () => forecast as Forecast };
}

const throwing = (message: string) => () => {
  throw new Error(message);
};

function chainOf(forecasters: Forecaster[]) {
  const faults: ForecasterFault[] = [];
  return { chain: new ForecastChain(forecasters, { onFault: (fault) => faults.push(fault) }), faults };
}

describe('ForecastChain', () => {
  test('gives the first valid and fresh forecast', () => {
    const old = { ...FORECAST, issuedAtMs: 0, source: 'old' };
    const { chain, faults } = chainOf([
      publishing('none', undefined),
      publishing('old', old),
      publishing('good', FORECAST),
      publishing('later', { ...FORECAST, source: 'later' }),
    ]);
    expect(chain.latest(16)).toBe(FORECAST);
    expect(chain.latest(14.9)).toBe(old);
    expect(chain.latest(26)).toBeUndefined();
    expect(faults).toEqual([]);
  });

  test('passes the time on to forecasters with tellTime', () => {
    const times: number[][] = [];
    const { chain, faults } = chainOf([
      publishing('indifferent', undefined),
      { ...publishing('broken', undefined), tellTime: throwing('no time') },
      { ...publishing('interested', undefined), tellTime: (...time) => times.push(time) },
    ]);
    chain.tellTime(3, 1e12, 0.5);
    expect(times).toEqual([[3, 1e12, 0.5]]);
    expect(faults).toMatchObject([{ forecaster: 'broken', during: 'tellTime', message: 'no time' }]);
  });

  test('rejects a forecast from the future', () => {
    expect(chainOf([publishing('ahead', FORECAST)]).chain.latest(9)).toBeUndefined();
  });

  test('reports a failing forecaster once per session and continues without it', () => {
    const one = { name: 'throws', start() {}, observe: throwing('observe failed'), latest: throwing('latest failed') };
    const broken = publishing('broken', { ...FORECAST, rankCorrelation: Number.NaN });
    const { chain, faults } = chainOf([one, broken, publishing('good', FORECAST)]);
    for (let i = 0; i < 3; i++) {
      chain.observe({ kind: 'idle', startSeconds: i, endSeconds: i + 1 });
      expect(chain.latest(11)).toBe(FORECAST);
    }
    expect(faults.map(({ forecaster, during, message }) => [forecaster, during, message])).toEqual([
      ['throws', 'observe', 'observe failed'],
      ['broken', 'latest', 'rankCorrelation: expected a number from 0 to 1, got NaN'],
    ]);
    chain.start({ seed: 1 });
    expect(chain.latest(11)).toBe(FORECAST);
    expect(faults.length).toBe(4);
  });

  test('tolerates a listener that throws', () => {
    const chain = new ForecastChain([publishing('broken', 'nonsense'), publishing('good', FORECAST)], {
      onFault: throwing('listener'),
    });
    expect(chain.latest(11)).toBe(FORECAST);
  });

  test('law: gives valid forecasts only', () => {
    const parts = fc.oneof(
      fc.anything(),
      fc.double(),
      fc.array(fc.double(), { maxLength: 4 }),
      fc.array(fc.array(fc.double(), { maxLength: 4 }), { maxLength: 4 }),
    );
    const fields = Object.keys(FORECAST);
    const garbage = fc.oneof(
      fc.anything(),
      fc
        .tuple(fc.constantFrom(...fields, 'kind', 'latency', 'fluctuation', 'paths'), parts)
        .map(([field, value]) => ({ ...FORECAST, [field]: value })),
    );
    fc.assert(
      fc.property(fc.array(garbage, { maxLength: 3 }), fc.double(), (published, nowSeconds) => {
        const { chain, faults } = chainOf(published.map((forecast, i) => publishing(`${i}`, forecast)));
        chain.start({ seed: 0 });
        const found = chain.latest(nowSeconds);
        if (found !== undefined) expect(() => validForecast(found)).not.toThrow();
        expect(faults.length).toBeLessThanOrEqual(published.length);
        for (const { message } of faults) expect(message).toMatch(/expected .*, got /);
      }),
      { seed: 4, numRuns: 3000 },
    );
  });
});

describe('validForecast', () => {
  const path = new ConstantPath(1e6);
  const fluctuation = { levels: [0.1, 0.5, 0.9], ratios: [0, 1, 1.5], correlation: 0.4 };
  const dip = {
    timingSeconds: 0.1,
    depth: 0.8,
    levels: [0.1, 0.9],
    seconds: [0.1, 0.4],
    collapse: { probability: 0.05, depth: 0.6, seconds: 1.5 },
  };
  const fluctuating = (changes: object) => ({ fluctuation: { ...fluctuation, ...changes } });
  const dipping = (changes: object) => ({ handovers: [{ atMs: 0, confidence: 1, dip: { ...dip, ...changes } }] });

  test.each<[string, object]>([
    ['quantiles', {}],
    ['quantiles by name', { kind: 'quantiles' }],
    ['with latency', { latency: { stepEndsSeconds: [1], levels: [0.5], quantilesMs: [[40]] } }],
    ['a fluctuation', fluctuating({})],
    ['a dip', dipping({})],
    ['paths', { kind: 'paths', issuedAtMs: 0, source: 'oracle', paths: [{ weight: 1, path }], handovers: [] }],
  ])('accepts %s', (_, changes) => expect(() => validForecast({ ...FORECAST, ...changes })).not.toThrow());

  test.each<[object, string]>([
    [{ issuedAtMs: Number.POSITIVE_INFINITY }, 'issuedAtMs: expected a finite number, got Infinity'],
    [{ levels: [] }, 'levels: expected an array of 1 to 64, got an empty array'],
    [{ levels: [0.5, 0.5, 0.9] }, 'levels[1]: expected a number above 0.5 and below 1, got 0.5'],
    [{ stepEndsSeconds: [4, 1] }, 'stepEndsSeconds[1]: expected a number above 4 and below 3600, got 1'],
    [{ quantilesBps: [[1, 2, 3]] }, 'quantilesBps: expected an array of 2, got an array of 1'],
    [{ quantilesBps: [[1, 2], []] }, 'quantilesBps[0]: expected an array of 3, got an array of 2'],
    [{ quantilesBps: [[1, 3, 2], []] }, 'quantilesBps[0][2]: expected a number from 3'],
    [{ quantilesBps: [[-1, 1, 2], []] }, 'quantilesBps[0][0]: expected a number from 0'],
    [{ quantilesBps: [[0, 1, 1e16], []] }, 'quantilesBps[0][2]: expected a number from 1'],
    [{ quantilesBps: [0, 0].map(() => [0, 0, 0]) }, 'quantilesBps[1]: expected a rate above 0, got 0'],
    [{ handovers: [{ atMs: 0, confidence: 2 }] }, 'handovers[0].confidence: expected a number from 0 to 1'],
    [{ kind: 'point' }, "kind: expected 'quantiles' or 'paths', got \"point\""],
    [{ latency: { stepEndsSeconds: [1], levels: [0.5], quantilesMs: [[-1]] } }, 'latency.quantilesMs[0][0]'],
    [{ fluctuation: null }, 'fluctuation: expected an object, got null'],
    [fluctuating({ levels: [0, 0.5, 0.9] }), 'fluctuation.levels[0]: expected a number above 0 and below 1, got 0'],
    [fluctuating({ ratios: [1, 1] }), 'fluctuation.ratios: expected an array of 3, got an array of 2'],
    [fluctuating({ ratios: [0, 1, 0.9] }), 'fluctuation.ratios[2]: expected a number from 1 to 1000, got 0.9'],
    [fluctuating({ ratios: [-1, 1, 2] }), 'fluctuation.ratios[0]: expected a number from 0 to 1000, got -1'],
    [fluctuating({ ratios: [0, 1, 2000] }), 'fluctuation.ratios[2]: expected a number from 1 to 1000, got 2000'],
    [fluctuating({ correlation: 1 }), 'fluctuation.correlation: expected a number from 0 to below 1, got 1'],
    [{ handovers: [{ atMs: 0, confidence: 1, dip: 0.3 }] }, 'handovers[0].dip: expected an object, got 0.3'],
    [dipping({ timingSeconds: 16 }), 'dip.timingSeconds: expected a number from 0 to 15, got 16'],
    [dipping({ depth: 80 }), 'dip.depth: expected a number from 0 to 1, got 80'],
    [dipping({ levels: [0.5, 1] }), 'dip.levels[1]: expected a number above 0.5 and below 1, got 1'],
    [dipping({ seconds: [0.1, 150] }), 'handovers[0].dip.seconds[1]: expected a number from 0.1 to 15, got 150'],
    [dipping({ collapse: undefined }), 'dip.collapse: expected an object, got undefined'],
    [dipping({ collapse: { ...dip.collapse, probability: 2 } }), 'dip.collapse.probability: expected'],
    [dipping({ collapse: { ...dip.collapse, depth: -1 } }), 'dip.collapse.depth: expected'],
    [dipping({ collapse: { ...dip.collapse, seconds: Number.NaN } }), 'dip.collapse.seconds: expected'],
    [{ kind: 'paths' }, 'paths: expected an array of 1 to 1024, got undefined'],
    [{ kind: 'paths', paths: [{ weight: 0.5, path }] }, 'paths: expected weights that sum to 1, got 0.5'],
    [{ kind: 'paths', paths: [{ weight: 1, path: {} }] }, 'paths[0].path: expected a capacity path'],
  ])('says what is wrong with %j', (changes, message) => {
    expect(() => validForecast({ ...FORECAST, ...changes })).toThrow(message);
  });

  test('says what is wrong with no object, and with one that cannot be read', () => {
    expect(() => validForecast(null)).toThrow('forecast: expected an object, got null');
    const unreadable = Object.defineProperty({ ...FORECAST }, 'source', {
      get: throwing('no'),
    });
    expect(() => validForecast(unreadable)).toThrow('values that can be read');
  });
});
