import { expect, test } from '@jest/globals';
import type { LogFields } from '../log.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { RefusalLog } from './refusal-log.ts';

test('a flood of refusals is one line a minute for each kind', () => {
  const clock = new ManualClock();
  const lines: [LogFields, string][] = [];
  const log = new RefusalLog({ info() {}, warn: (...line) => void lines.push(line) }, clock);
  const refused = { status: 429, code: 'too-many-requests', message: 'expected fewer requests', address: '10.0.0.1' };
  for (let i = 0; i < 1000; i++) {
    clock.advance(0.01);
    log.add({ ...refused, address: `10.0.0.${i % 200}` });
  }
  log.add({ ...refused, status: 401, code: 'unauthorized', message: 'expected a token' });
  log.add({ ...refused, status: 404, code: 'not-found' });
  expect(lines).toEqual([
    [
      { part: 'client', code: 'too-many-requests', status: 429, address: '10.0.0.0' },
      '10.0.0.0 is refused: expected fewer requests',
    ],
    [expect.objectContaining({ code: 'unauthorized' }), '10.0.0.1 is refused: expected a token'],
  ]);
  clock.advance(60);
  for (let i = 0; i < 2; i++) log.add(refused);
  expect(lines.slice(2).map(([, message]) => message)).toEqual([
    '10.0.0.1 is refused: expected fewer requests; 999 more since the last such line',
  ]);
});
