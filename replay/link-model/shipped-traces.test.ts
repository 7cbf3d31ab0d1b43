import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { formatSidecar, parseSidecar } from '../formats/sidecar.ts';
import { formatTraceCsv, parseTraceCsv } from '../formats/trace-csv.ts';
import { SHIPPED_TRACES, synthesizeShippedTraces } from './shipped-traces.ts';
import { synthesizeTrace } from './synthesize-trace.ts';

const FOLDER = fileURLToPath(new URL('../traces/', import.meta.url));
const fileText = (name: string) => readFileSync(`${FOLDER}${name}`, 'utf8');

describe('the shipped traces', () => {
  test.each(SHIPPED_TRACES)('$name equals its file byte for byte', (recipe) => {
    const trace = synthesizeTrace(recipe);
    expect(formatTraceCsv(trace)).toBe(fileText(`${recipe.name}.csv`));
    expect(formatSidecar(trace.metadata)).toBe(fileText(`${recipe.name}.json`));
  });

  test('are the only files of the folder', () => {
    const names = SHIPPED_TRACES.map(({ name }) => name);
    const expected = ['README.md', ...names.map((name) => `${name}.csv`), ...names.map((name) => `${name}.json`)];
    expect(readdirSync(FOLDER).sort()).toEqual(expected.sort());
  });

  test('parse from text, as in a page, to the synthesized traces', () => {
    for (const drawn of synthesizeShippedTraces()) {
      const { name } = drawn;
      const metadata = parseSidecar(fileText(`${name}.json`), name, `${name}.json`);
      const [read, ...rest] = parseTraceCsv(fileText(`${name}.csv`), { name, metadata });
      expect(rest).toEqual([]);
      expect(read!.metadata).toEqual(drawn.metadata);
      expect(read!.stepEndsSeconds).toEqual(drawn.stepEndsSeconds);
      read!.ratesBps.forEach((rate, i) => {
        if (Math.abs(rate - drawn.ratesBps[i]!) > 1e-6) throw new Error(`${name}: ${rate} at ${i}`);
      });
    }
  });

  test('are marked as synthetic, each with a recording group of its own', () => {
    const traces = synthesizeShippedTraces();
    expect(new Set(traces.map(({ metadata }) => metadata.recordingGroup)).size).toBe(traces.length);
    for (const { metadata } of traces)
      expect(metadata).toMatchObject({ licence: 'Apache-2.0', other: { synthetic: true } });
  });
});
