/** For tests: commands that refuse their input. */

import { expect } from '@jest/globals';
import type { run } from './run.fixture.ts';

/** Expects status 2 with this message, and no results; returns standard error. */
export async function refused(ending: ReturnType<typeof run>, message: string | RegExp): Promise<string> {
  const { status, stdout, stderr } = await ending;
  expect(stderr).toMatch(message);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).not.toContain('sessions in');
  return stderr;
}
