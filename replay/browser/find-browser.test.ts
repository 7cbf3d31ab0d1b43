import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../folder.fixture.ts';
import { BrowserNotFoundError, findBrowser } from './find-browser.ts';

const at = temporaryFolder('file');

test('prefers CHROME_PATH and passes the environment on', async () => {
  const found = await findBrowser({ env: { CHROME_PATH: process.execPath, HELLO: 'there' } });
  expect([found.source, found.executablePath]).toEqual(['CHROME_PATH', process.execPath]);
  expect(found.env).toEqual({ CHROME_PATH: process.execPath, HELLO: 'there' });
  expect(found.args).toContain('--disable-background-networking');
});

test('throws for a CHROME_PATH that is not executable', async () => {
  const path = at('not-executable');
  writeFileSync(path, '', { mode: 0o644 });
  await expect(findBrowser({ env: { CHROME_PATH: path } })).rejects.toThrow(BrowserNotFoundError);
  await expect(findBrowser({ env: { CHROME_PATH: at('nowhere') } })).rejects.toThrow(/CHROME_PATH.*nowhere/);
});
