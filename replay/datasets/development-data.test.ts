/** Compares conversions with the development data beside the checkout, where that is present. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { filesOf, isFileOf, recordingsIn } from './dataset-files.ts';
import { RECIPES } from './recipes.ts';

const DATA = fileURLToPath(new URL('../../../shared/data', import.meta.url));
const SAMPLES = join(DATA, 'raw-samples');
const isPresent = existsSync(SAMPLES);

interface Converted {
  name: string;
  lines: string[];
  sidecar: Record<string, unknown> & { source: { repo: string; path: string } };
}

/** The converted development data that came from a file of a repository. */
function convertedFrom(repository: string, path: string): Converted[] {
  return all.filter(({ sidecar }) => {
    const { source } = sidecar;
    return source.repo === repository && source.path.split(/[ :]/)[0] === path;
  });
}

const below = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

const all: Converted[] = (isPresent ? ['traces', 'subsecond'] : [])
  .flatMap((folder) => below(join(DATA, folder)))
  .filter((file) => file.endsWith('.json'))
  .map((file) => ({
    name: file.slice(file.lastIndexOf('/') + 1, -'.json'.length),
    lines: readFileSync(file.replace(/json$/, 'csv'), 'utf8').trim().split('\n'),
    sidecar: JSON.parse(readFileSync(file, 'utf8')),
  }));

/** The excerpts of sources, but those of pings, which have no recipe. */
const samples = (isPresent ? readdirSync(SAMPLES).filter((name) => name.includes('__')) : [])
  .flatMap((folder) =>
    below(join(SAMPLES, folder)).map((file) => ({
      repository: folder.replace('__', '/'),
      path: file.slice(join(SAMPLES, folder).length + 1),
      file,
    })),
  )
  .filter(({ path }) => !/^(src\/latency|shaper)\//.test(path));

/**
 * Equal but for the last digits: rates within 2 kbit/s (the development data interpolate counters between Unix times,
 * which doubles hold to 0.2 us only), the others within one unit (there, ties are rounded to even digits).
 */
function isEqual(row: string, expected: string): boolean {
  if (row === expected) return true;
  const [cells, others] = [row.split(','), expected.split(',')];
  const tolerances = [0, 0.0021, 0.0101, 0.000101];
  return cells.every((cell, i) => {
    const both = cell !== '' && others[i] !== '';
    return both ? Math.abs(Number(cell) - Number(others[i])) <= tolerances[i]! : cell === others[i];
  });
}

// Without the development data there is nothing to compare with.
(isPresent ? describe : describe.skip)('raw samples', () => {
  test.each(samples)('$repository $path equals the development data', ({ repository, path, file }) => {
    const matches = RECIPES.flatMap((recipe) =>
      recipe.sources
        .filter((source) => source.repository === repository && isFileOf(source, path))
        .map((source) => ({ recipe, source })),
    );
    expect(matches).toHaveLength(1);
    const { recipe, source } = matches[0]!;
    const expectedAll = convertedFrom(repository, path);
    let compared = 0;
    for (const recording of recordingsIn(recipe, source, path, readFileSync(file))) {
      const [sidecarText = '', csv = ''] = filesOf(recipe, source, path, recording).map(([, text]) => text);
      const sidecar = JSON.parse(sidecarText);
      const expected = expectedAll.find((one) =>
        sidecar.start_utc === undefined
          ? one.name === recording.name
          : Math.abs(Date.parse(String(one.sidecar['start_utc'])) - Date.parse(sidecar.start_utc)) <= 1,
      );
      if (expected === undefined) throw new Error(`nothing to compare ${recording.name} with`);
      compared++;
      const lines = csv.trim().split('\n');
      // The last row may be of less data where a sample is an excerpt.
      const excerpt = lines.length < expected.lines.length;
      const rows = excerpt ? lines.slice(0, -1) : lines;
      expect(rows.filter((row, i) => !isEqual(row, expected.lines[i]!))).toEqual([]);
      expect(sidecar.epoch_phase_s ?? null).toBe(expected.sidecar['epoch_phase_s']);
      if ('recording_group' in expected.sidecar)
        expect(sidecar.recording_group).toBe(expected.sidecar['recording_group']);
      expect(sidecar.dataset).toBe(expected.sidecar['dataset']);
      const phase = expected.sidecar['handover_phase_s'];
      if (phase !== undefined) expect(Math.abs(sidecar.handover_phase_s - Number(phase))).toBeLessThan(0.0051);
    }
    expect(compared).toBeGreaterThan(0);
  });
});
