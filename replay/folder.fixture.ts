/** For tests: a temporary folder, and files in it. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';

/** Returns a function that gives paths in a folder, which is new for each test, or for the file or its `describe`. */
export function temporaryFolder(lasts: 'test' | 'file'): (...names: string[]) => string {
  const [before, after] = lasts === 'test' ? [beforeEach, afterEach] : [beforeAll, afterAll];
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'leo-abr-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  return (...names) => join(folder, ...names);
}

/** Writes a file, and makes the folders above it; returns its path. */
export function put(file: string, content: string | Uint8Array): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}
