import { expect, test } from '@jest/globals';
import { serviceLog } from './service-log.ts';

function written(isTTY: boolean): string {
  let text = '';
  const log = serviceLog({ isTTY, write: (line) => (text += line) });
  log.info('listening');
  log.warn({ part: 'dish', code: 'unreachable' }, 'no answer\x1b[2J');
  log.error(new Error('broken'));
  return text;
}

test('writes lines of JSON', () => {
  const lines = written(false).trimEnd().split('\n');
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { level: 'info', time, msg: 'listening' },
    { level: 'warn', time, part: 'dish', code: 'unreachable', msg: 'no answer\x1b[2J' },
    { level: 'error', time, msg: 'broken', err: expect.objectContaining({ message: 'broken' }) },
  ]);
});

test('writes plain lines to a terminal, without control characters of clients', () => {
  const [listening, dish, error, place] = written(true).split('\n');
  expect(listening).toMatch(/^\d\d:\d\d:\d\d listening$/);
  expect(dish?.slice(9)).toBe('warn: dish unreachable: no answer?[2J');
  expect(error?.slice(9)).toBe('error: Error: broken');
  expect(place).toMatch(/^ +at /);
});
