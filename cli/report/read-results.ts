/** Reads results files line by line, because a large file does not fit into one string. */

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { InputError } from '../../abr/errors.ts';
import { parseResults, parseResultsLines } from '../../replay/evaluation/parse-results.ts';
import type { Results } from '../../replay/results.ts';
import { readInput } from '../results-file.ts';

/** Throws an `InputError` with file, line and field for an unreadable file or one without results. */
export async function readResults(file: string): Promise<Results> {
  const stream = createReadStream(file, 'utf8');
  try {
    // readline loses an error of the stream that occurs before the first line is requested.
    const failed = new Promise<never>((_, reject) => stream.once('error', reject));
    failed.catch(() => {});
    const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
    const results = await Promise.race([parseResultsLines(lines, file), failed]);
    return results ?? parseResults(readInput(file, 'results'), file);
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError('results', 'a readable file', undefined, `${file}: ${(error as Error).message}`);
  } finally {
    stream.destroy();
  }
}
