/** The flags of `leo-abr transport sweep`; `npm run test:transport` has the downloads. */

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { run } from './run.fixture.ts';

test.each([
  [['--flows', 'bbr3'], '--flows: expected cubic, reno, bbr2 or bbr2:'],
  [['--flows', '0*bbr2'], '--flows: expected cubic, reno, bbr2 or bbr2:'],
  [['--seconds', '1'], '--seconds: expected seconds above 1, got "1"'],
  [['--impairment', 'rain'], '--impairment: expected one of starlink, none, or such as starlink,loss=0.02, got "rain"'],
  [['--out', tmpdir()], '--out: expected a file that can be written'],
])('%s is wrong input', async (flags, message) => {
  const links = ['--traces', 'replay/traces/stationary-typical.csv', '--scenario', 'hd-16'];
  const { status, stderr } = await run([
    'transport',
    'sweep',
    ...links,
    '--out',
    join(tmpdir(), 'never.json'),
    ...flags,
  ]);
  expect(stderr).toContain(message);
  expect(status).toBe(2);
});
