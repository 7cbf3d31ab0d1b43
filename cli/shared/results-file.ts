/** Reads and writes the files that flags name; outputs are checked before the long work. Errors name the flag. */

import { closeSync, mkdirSync, openSync, readFileSync, readSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { InputError, parsedJson } from '../../abr/errors.ts';
import { parseResults } from '../../replay/evaluation/documents/parse-results.ts';
import { writeFileAtomically } from '../../replay/formats/write-file.ts';
import type { Results } from '../../replay/results.ts';
import type { Output } from './command-io.ts';

/** `--out -`: standard output. */
export const STANDARD_OUTPUT = '-';

/** `--out` without a file; undefined: the flag is absent, and only the table is printed. */
export function fileOf(out: string | undefined): string | undefined {
  return out === STANDARD_OUTPUT ? undefined : out;
}

/** Prints the table: on standard output, unless that has the results. */
export function printTable(
  table: string,
  out: string | undefined,
  { stdout, stderr }: { stdout: Output; stderr: Output },
): void {
  (out === undefined ? stdout : stderr).write(table);
  if (out !== undefined) return;
  stderr.write(`For all sessions as JSON: --out <file>, or --out ${STANDARD_OUTPUT} for standard output.\n`);
}

/** Creates the folder of the output file. Throws an `InputError` of flag `field` if it cannot be written. */
export function requireWritable(out: string | undefined, field = '--out'): void {
  if (out !== undefined && out !== STANDARD_OUTPUT) tryOut(out, { field, kind: 'file', folder: dirname(out) });
}

export function requireWritableFolder(out: string, field = '--out'): void {
  tryOut(out, { field, kind: 'folder', folder: out });
}

function tryOut(
  out: string,
  { field, kind, folder }: { field: string; kind: 'file' | 'folder'; folder: string },
): void {
  const probe = join(folder, `.${basename(out)}.${process.pid}.probe`);
  try {
    const there = statSync(out, { throwIfNoEntry: false });
    if (kind === 'file' && there?.isDirectory()) throw new Error('it is a folder');
    if (kind === 'folder' && there?.isFile()) throw new Error('it is a file');
    mkdirSync(folder, { recursive: true });
    closeSync(openSync(probe, 'wx'));
    rmSync(probe);
  } catch (error) {
    throw new InputError(field, `a ${kind} that can be written`, undefined, `${out}: ${(error as Error).message}`);
  }
}

/** Pieces are written as they are made. */
export function writeOutput(out: string, text: string | Iterable<string>, stdout: Output): void {
  if (out !== STANDARD_OUTPUT) writeFileAtomically(out, text);
  else for (const piece of typeof text === 'string' ? [text] : text) stdout.write(piece);
}

/** The text of a file. Throws an `InputError` of flag `field` if it is unreadable or longer than `mostBytes`. */
export function readInput(file: string, field: string, mostBytes = Number.POSITIVE_INFINITY): string {
  let fault: string;
  try {
    const { size } = statSync(file);
    if (size <= mostBytes) return readFileSync(file, 'utf8');
    fault = `${size} bytes, more than ${mostBytes}`;
  } catch (error) {
    fault = (error as Error).message;
  }
  throw new InputError(field, 'a readable file', undefined, `${file}: ${fault}`);
}

export function readJson(file: string, field: string): unknown {
  return parsedJson(readInput(file, field), file);
}

/** Results, or partial ones, from a file of any size. `flag` names it in errors of reading. */
export function readResults(file: string, { flag = 'results', allowPartial = false } = {}): Results {
  try {
    return parseResults(linesOf(file), file, { allowPartial });
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(flag, 'a readable file', undefined, `${file}: ${(error as Error).message}`);
  }
}

/** The file of full records, a JSON line per session, beside the results of `leo-abr bench`. */
export function rawFileOf(file: string): string {
  return `${file.replace(/\.json$/, '')}.raw.jsonl`;
}

export function* linesOf(file: string): Generator<string> {
  const descriptor = openSync(file, 'r');
  try {
    const decoder = new StringDecoder('utf8');
    const chunk = Buffer.alloc(1 << 20);
    let rest = '';
    for (let size = readSync(descriptor, chunk); size > 0; size = readSync(descriptor, chunk)) {
      const lines = (rest + decoder.write(chunk.subarray(0, size))).split('\n');
      rest = lines.pop()!;
      yield* lines;
    }
    yield rest;
  } finally {
    closeSync(descriptor);
  }
}
