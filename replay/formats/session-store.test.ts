import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { testSession } from '../evaluation/test-sessions.fixture.ts';
import { put, temporaryFolder } from '../folder.fixture.ts';
import { SessionStore, sessionLine } from './session-store.ts';

// Letters of two and three bytes, so that bytes and characters differ.
const SESSIONS = ['first', 'zweite Fähre', '第三'].map((trace, i) => testSession({ trace, stallSeconds: i }));

const at = temporaryFolder('test');
let store: SessionStore;
afterEach(() => store.close());

test('gives the same sessions back, with their rows and without', () => {
  store = new SessionStore();
  const stored = [...store.add(SESSIONS.slice(0, 2)), ...store.add(SESSIONS.slice(2))];
  expect(stored.map(({ trace, stallSeconds }) => ({ trace, stallSeconds }))).toEqual(
    SESSIONS.map(({ trace, stallSeconds }) => ({ trace, stallSeconds })),
  );
  // In any order, as a report reads them.
  for (const i of [2, 0, 1]) expect(stored[i]!.segments).toEqual(SESSIONS[i]!.segments);
  expect(JSON.parse(JSON.stringify(stored))).toEqual(SESSIONS);
});

test('without a file, follows no link that waits in the temporary folder', () => {
  const others = put(at('others'), 'of others');
  const name = `leo-abr-sessions.${process.pid}.tmp`;
  const links = [name, `.${name}.${process.pid}.tmp`].map((one) => join(tmpdir(), one));
  for (const link of links) symlinkSync(others, link);
  try {
    store = new SessionStore();
    expect(store.add(SESSIONS)[1]!.segments).toEqual(SESSIONS[1]!.segments);
    expect(readFileSync(others, 'utf8')).toBe('of others');
  } finally {
    for (const link of links) rmSync(link, { force: true });
  }
});

test('keeps no rows in memory', () => {
  store = new SessionStore();
  const [stored] = store.add(SESSIONS);
  expect(Object.keys(stored!)).not.toContain('segments');
  expect(stored!.segments).not.toBe(stored!.segments);
});

test('writes a file of the head and a line per session, replacing what was there', () => {
  const file = at('results.json');
  writeFileSync(file, 'old');
  store = new SessionStore({ file, head: () => '{"é":[\n' });
  for (const session of SESSIONS) expect(store.add([session])[0]!.segments).toEqual(session.segments);
  expect(readFileSync(file, 'utf8')).toBe(`{"é":[\n${SESSIONS.map(sessionLine).join('')}`);
});

test('makes no file without a session', () => {
  const file = at('results.json');
  store = new SessionStore({ file, head: () => '' });
  expect(() => readFileSync(file)).toThrow('ENOENT');
});
