import { expect, test } from '@jest/globals';
import { duration, Progress } from './progress.ts';

function shown(isTTY: boolean) {
  const written: string[] = [];
  let now = 0;
  const progress = new Progress({ write: (text) => written.push(text), isTTY }, 100, 'sessions', () => now);
  return {
    written,
    at: (seconds: number) => {
      now = seconds * 1000;
      return progress;
    },
  };
}

test('a terminal gets one line, which is overwritten', () => {
  const { written, at } = shown(true);
  at(0.1).update(1);
  at(1).update(10);
  at(1.1).update(11);
  at(9).update(90);
  at(10).end(100);
  expect(written).toEqual([
    '\r10 of 100 sessions, 9.0 s left',
    '\r90 of 100 sessions, 1.0 s left',
    '\r100 of 100 sessions in 10 s   ',
    '\n',
  ]);
});

test('a log gets a line every 10 s', () => {
  const { written, at } = shown(false);
  at(1).update(1);
  at(10).update(10);
  at(15).update(15);
  at(20).end(20);
  expect(written).toEqual(['10 of 100 sessions, 1 min 30 s left\n', '20 of 100 sessions in 20 s\n']);
});

test('durations', () => {
  const texts = ['0 s', '3.3 s', '59 s', '1 min 0 s', '12 min 34 s', '2 h 5 min'];
  expect([0, 3.25, 59.4, 60, 754, 7500].map(duration)).toEqual(texts);
});
