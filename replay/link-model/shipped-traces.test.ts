import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { formatSidecar } from '../formats/sidecar.ts';
import { formatTraceCsv } from '../formats/trace-csv.ts';
import { SHIPPED_TRACES } from './shipped-traces.ts';
import { synthesizeTrace } from './synthesize-trace.ts';

const FOLDER = fileURLToPath(new URL('../traces/', import.meta.url));
const fileText = (name: string) => readFileSync(`${FOLDER}${name}`, 'utf8');

test.each(SHIPPED_TRACES)('$name equals its file byte for byte', (recipe) => {
  const trace = synthesizeTrace(recipe);
  expect(formatTraceCsv(trace)).toBe(fileText(`${recipe.name}.csv`));
  expect(formatSidecar(trace.metadata)).toBe(fileText(`${recipe.name}.json`));
});

test('the shipped traces are the only files of the folder', () => {
  const names = SHIPPED_TRACES.map(({ name }) => name);
  const expected = ['README.md', ...names.map((name) => `${name}.csv`), ...names.map((name) => `${name}.json`)];
  expect(readdirSync(FOLDER).sort()).toEqual(expected.sort());
});
