import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../replay/folder.fixture.ts';
import { ManualClock } from './manual-clock.fixture.ts';
import { PredictionService } from './prediction-service.ts';
import { Problems } from './problems.ts';
import { shellText } from './sky/constellation.fixture.ts';
import { ElementSource } from './sky/element-source.ts';

const at = temporaryFolder('test');

test('elements are too old only while the system clock is wrong', async () => {
  const clock = new ManualClock();
  const source = at('shell.tle');
  writeFileSync(source, shellText({ planes: 2, perPlane: 2, epochMs: clock.utcMs() }));
  const problems = new Problems(clock);
  const elements = new ElementSource({ source, cacheDirectory: at(), maxAgeDays: 7, clock, problems });
  clock.leap(-20 * 86_400);
  await elements.refresh();
  expect(problems.list()).toMatchObject([{ part: 'sky', code: 'elements-too-old' }]);
  clock.leap(20 * 86_400);
  clock.advance(60);
  await elements.refresh();
  expect(problems.list()).toEqual([]);
  // The age is checked even if the elements are not read again.
  clock.leap(20 * 86_400);
  clock.advance(60);
  await elements.refresh();
  expect(problems.list()).toMatchObject([{ part: 'sky', code: 'elements-too-old' }]);
});

test('how long something lasts stays true when UTC leaps', () => {
  const clock = new ManualClock();
  const service = new PredictionService({ clock, version: '0' });
  service.problems.report('dish', 'unreachable', 'nothing answers');
  clock.advance(60);
  clock.leap(7200);
  service.tick();
  const { startedMs, serverUtcMs, dish, problems } = service.state();
  expect(serverUtcMs - startedMs).toBe(60_000);
  expect(serverUtcMs - dish.sinceMs).toBe(60_000);
  expect(problems.map(({ part, sinceMs }) => [part, serverUtcMs - sinceMs])).toEqual([
    ['dish', 60_000],
    ['clock', 0],
  ]);
});
