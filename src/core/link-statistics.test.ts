import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { loadStatistics, STORAGE_KEY, type StatisticsStorage, saveStatistics, withSession } from './link-statistics.ts';

const ORIGIN = 'https://media.example';
const DAY_MS = 86_400_000;
const SEEN = { medianBps: 20e6, spread: 0.4, sessions: 3 };

function memory(text?: string): StatisticsStorage & { text: string | null } {
  return {
    text: text ?? null,
    getItem(key) {
      return key === STORAGE_KEY ? this.text : null;
    },
    setItem(key, value) {
      expect(key).toBe(STORAGE_KEY);
      this.text = value;
    },
  };
}

beforeEach(() => {
  jest.useFakeTimers({ now: 20_000 * DAY_MS });
});
afterEach(() => {
  jest.useRealTimers();
});

describe('link statistics', () => {
  test('are restored as stored, per origin, as four numbers', () => {
    const storage = memory();
    saveStatistics(() => storage, ORIGIN, SEEN);
    saveStatistics(() => storage, 'https://other.example', { ...SEEN, medianBps: 1e6 });
    expect(loadStatistics(() => storage, ORIGIN)).toEqual(SEEN);
    expect(loadStatistics(() => storage, 'https://unknown.example')).toBeUndefined();
    expect(JSON.parse(storage.text!)).toEqual({
      [ORIGIN]: [20e6, 0.4, 3, 20_000],
      'https://other.example': [1e6, 0.4, 3, 20_000],
    });
  });

  test('are forgotten after a month; of more than 20 origins, the oldest', () => {
    const storage = memory();
    saveStatistics(() => storage, ORIGIN, SEEN);
    jest.setSystemTime(20_030 * DAY_MS);
    expect(loadStatistics(() => storage, ORIGIN)).toEqual(SEEN);
    for (let i = 0; i < 20; i++) saveStatistics(() => storage, `https://${i}.example`, SEEN);
    expect(Object.keys(JSON.parse(storage.text!))).toHaveLength(20);
    expect(loadStatistics(() => storage, ORIGIN)).toBeUndefined();
    jest.setSystemTime(20_061 * DAY_MS);
    expect(loadStatistics(() => storage, 'https://3.example')).toBeUndefined();
    saveStatistics(() => storage, ORIGIN, SEEN);
    expect(Object.keys(JSON.parse(storage.text!))).toEqual([ORIGIN]);
  });

  test.each([
    'no JSON',
    'null',
    '7',
    '[]',
    `{"${ORIGIN}": 1}`,
    `{"${ORIGIN}": [1, 2, 3]}`,
    `{"${ORIGIN}": [-1, 0, 1, 20000]}`,
    `{"${ORIGIN}": [1e6, null, 1, 20000]}`,
    `{"${ORIGIN}": [1e6, 99, 1, 20000]}`,
    `{"${ORIGIN}": [1e6, 0.4, 1, 99999]}`,
  ])('stored content %s is ignored and replaced', (text) => {
    const storage = memory(text);
    expect(loadStatistics(() => storage, ORIGIN)).toBeUndefined();
    saveStatistics(() => storage, ORIGIN, SEEN);
    expect(loadStatistics(() => storage, ORIGIN)).toEqual(SEEN);
  });

  test('missing, blocked or full storage is no error', () => {
    const blocked = () => {
      throw new DOMException('denied', 'SecurityError');
    };
    const full = { ...memory(), setItem: blocked };
    for (const open of [() => undefined, blocked, () => full]) {
      expect(() => saveStatistics(open, ORIGIN, SEEN)).not.toThrow();
      expect(loadStatistics(open, ORIGIN)).toBeUndefined();
    }
  });

  test('move towards the latest session, and widen if sessions differ', () => {
    expect(withSession(undefined, { medianBps: 10e6, spread: 0.2 })).toEqual({
      medianBps: 10e6,
      spread: 0.2,
      sessions: 1,
    });
    const same = withSession({ medianBps: 10e6, spread: 0.2, sessions: 5 }, { medianBps: 10e6, spread: 0.2 });
    expect(same).toMatchObject({ medianBps: 10e6, sessions: 6 });
    expect(same.spread).toBeCloseTo(0.2);
    const other = withSession({ medianBps: 10e6, spread: 0.2, sessions: 1 }, { medianBps: 40e6, spread: 0.2 });
    expect(other.medianBps).toBeCloseTo(20e6);
    expect(other.spread).toBeCloseTo(Math.hypot(0.2, Math.log(2)));
    // A long past does not prevent learning a new place.
    let learnt = { medianBps: 10e6, spread: 0.2, sessions: 1000 };
    for (let i = 0; i < 12; i++) learnt = withSession(learnt, { medianBps: 40e6, spread: 0.2 });
    expect(learnt.medianBps).toBeGreaterThan(35e6);
  });
});
