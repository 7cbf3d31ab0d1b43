import { expect, jest, test } from '@jest/globals';
import { temporaryFolder } from '../replay/folder.fixture.ts';
import { linkEmulator } from './programs.ts';

const at = temporaryFolder('test');

test('no program is run from a folder of another user', () => {
  const user = jest.spyOn(process, 'getuid' as never).mockReturnValue(4711 as never);
  const { TMPDIR = '' } = process.env;
  process.env['TMPDIR'] = at();
  try {
    expect(linkEmulator).toThrow(`${at('leo-abr-4711')} belongs to another user`);
  } finally {
    process.env['TMPDIR'] = TMPDIR;
    user.mockRestore();
  }
});
