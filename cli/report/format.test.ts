import { expect, test } from '@jest/globals';
import { estimateCell, fixed, scaled, signed } from './format.ts';
import { seriesStyles } from './series-style.ts';

test('numbers have a typographic minus, and zero has none', () => {
  expect([-1.234, -0.001, undefined, Number.NaN].map((value) => fixed(value, 2))).toEqual(['−1.23', '0.00', '–', '–']);
  expect([signed(1.2, 1), signed(0.01, 1), signed(-2, 0)]).toEqual(['+1.2', '0.0', '−2']);
});

test('an estimate is strong if its interval lies on one side', () => {
  const cell = (low: number, high: number, isDifference = true) =>
    estimateCell({ value: 1, ci95: [low, high] }, { digits: 1, isDifference });
  expect(cell(0.5, 2)).toEqual({ text: '+1.0 (+0.5 to +2.0)', strong: true });
  expect(cell(-2, -1)).toMatchObject({ strong: true });
  expect(cell(-0.5, 2)).toMatchObject({ strong: false });
  expect(cell(0.5, 2, false)).toEqual({ text: '1.0 (0.5 to 2.0)', strong: false });
  expect(cell(0.96, 1.04)).toEqual({ text: '+1.0', strong: true });
  expect(estimateCell({ value: 1, ci95: null }, { digits: 1 })).toBe('+1.0');
  expect(estimateCell(null, { digits: 1 })).toBe('–');
  expect(scaled({ value: 1, ci95: [-2, 3] }, -10)).toEqual({ value: -10, ci95: [-30, 20] });
});

test('algorithms of a report differ by colour or symbol', () => {
  const parts = ['mpc-l:no-abandon', 'mpc-l:no-handover'];
  const names = ['mpc-d', 'mpc-l', 'mpc-o', 'bola', 'throughput', 'dynamic', 'own', ...parts];
  const styles = seriesStyles(names);
  const looks = names.map((name) => styles.get(name)!);
  expect(new Set(looks.map(({ color, symbol }) => `${color} ${symbol}`)).size).toBe(names.length);
  expect(styles.get('mpc-l:no-abandon')!.color).toBe(styles.get('mpc-l')!.color);
  // Other algorithms do not change the look of a known algorithm.
  expect(seriesStyles(['bola', 'mpc-d']).get('mpc-d')).toEqual(styles.get('mpc-d'));
});
