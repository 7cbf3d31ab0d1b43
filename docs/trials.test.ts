import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { SESSION_REPORT_FIELDS } from '../abr/session-report.ts';
import { VERSION } from '../src/trial/version.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

test('the guide names each field of a report, and no other', () => {
  const rows = [...read('trials.md').matchAll(/^\| (`.*?) *\|/gm)].flatMap(([, cell]) => cell!.match(/\w+(?=`)/g)!);
  expect(rows.sort()).toEqual(Object.keys(SESSION_REPORT_FIELDS).sort());
});

test('reports have the version of the package', () => {
  expect(VERSION).toBe((JSON.parse(read('../package.json')) as { version: string }).version);
});
