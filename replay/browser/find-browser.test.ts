import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BrowserNotFoundError, findBrowser } from './find-browser.ts';

describe('findBrowser', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'leo-abr-find-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('prefers CHROME_PATH and passes the environment on', async () => {
    const found = await findBrowser({ env: { CHROME_PATH: process.execPath, HELLO: 'there' } });
    expect(found.source).toBe('CHROME_PATH');
    expect(found.executablePath).toBe(process.execPath);
    expect(found.env).toEqual({ CHROME_PATH: process.execPath, HELLO: 'there' });
    expect(found.args).toContain('--disable-background-networking');
  });

  test('throws for a CHROME_PATH that is not executable', async () => {
    const path = join(folder, 'not-executable');
    writeFileSync(path, '', { mode: 0o644 });
    await expect(findBrowser({ env: { CHROME_PATH: path } })).rejects.toThrow(BrowserNotFoundError);
    await expect(findBrowser({ env: { CHROME_PATH: join(folder, 'nowhere') } })).rejects.toThrow(
      /CHROME_PATH.*nowhere/,
    );
  });
});
