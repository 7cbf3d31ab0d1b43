import { rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { linkEmulator } from './programs.ts';

test('no program is run from a folder of another user', () => {
  const { getuid } = process;
  const user = 2 ** 31 - process.pid;
  const folder = join(tmpdir(), `leo-abr-${user}`);
  process.getuid = () => user;
  try {
    expect(linkEmulator).toThrow(`${folder} belongs to another user`);
  } finally {
    Object.assign(process, { getuid });
    rmdirSync(folder);
  }
});
