/** Reads and writes the files that flags name, and checks outputs before the long work. Errors name the flag. */

import { closeSync, existsSync, openSync, readFileSync, readSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { InputError, parsedJson } from '../../abr/errors.ts';
import { parseResults } from '../../replay/evaluation/documents/parse-results.ts';
import { beginningOf } from '../../replay/formats/trace-files.ts';
import { writeFileAtomically } from '../../replay/formats/write-file.ts';
import type { Results } from '../../replay/results.ts';
import type { Output } from './command-io.ts';

/** `--out -` means standard output. */
export const STANDARD_OUTPUT = '-';

/** The file of `--out`, or undefined if the flag is absent or means standard output. */
export function fileOf(out: string | undefined): string | undefined {
  return out === STANDARD_OUTPUT ? undefined : out;
}

type Outputs = { stdout: Output; stderr: Output };

/** Prints the table on standard output, or on standard error if the results are there. */
export function printTable(table: string, out: string | undefined, { stdout, stderr }: Outputs): void {
  (out === STANDARD_OUTPUT ? stderr : stdout).write(table);
  if (out !== undefined) return;
  stderr.write(`For all sessions as JSON: --out <file>, or --out ${STANDARD_OUTPUT} for standard output.\n`);
}

/** How the files of each kind begin. A command replaces no other file, which may be its input. */
const BEGINNINGS = {
  results: /^\s*\{\s*"schema":\s*\d/,
  qualities: /^\s*\{\s*"schema":\s*"leo-abr-quality/,
  sweep: /^\s*\{\s*"tool":/,
  model: /^\s*\{\s*"format":/,
  'ONNX model': /^.{4}leo-abr/s,
  folds: /^\s*\{/,
};

/** Throws an `InputError` of flag `field` if the output cannot be written. A missing folder is made with the output. */
export function requireWritable(
  out: string | undefined,
  kind: 'folder' | keyof typeof BEGINNINGS,
  field = '--out',
): void {
  if (out === undefined || out === STANDARD_OUTPUT) return;
  const expected = kind === 'folder' ? kind : 'file';
  let folder = kind === 'folder' ? out : dirname(out);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  const probe = join(folder, `.${basename(out)}.${process.pid}.probe`);
  try {
    const there = statSync(out, { throwIfNoEntry: false });
    // A renamed file would also replace a device, such as /dev/null.
    const isFit = kind === 'folder' ? there?.isDirectory() : there?.isFile();
    if (isFit === false || (kind !== 'folder' && /[/\\]$/.test(out))) throw new Error(`it is no ${expected}`);
    if (kind !== 'folder' && there?.size && !BEGINNINGS[kind].test(beginningOf(out))) {
      throw new Error(`it exists and holds no ${kind}; remove it, or name another file`);
    }
    closeSync(openSync(probe, 'wx'));
    rmSync(probe);
  } catch (error) {
    throw new InputError(field, `a ${expected} that can be written`, undefined, `${out}: ${(error as Error).message}`);
  }
}

/** Writes a text, or writes pieces as they are made. */
export function writeOutput(out: string, text: string | Iterable<string>, stdout: Output): void {
  if (out !== STANDARD_OUTPUT) writeFileAtomically(out, text);
  else for (const piece of typeof text === 'string' ? [text] : text) stdout.write(piece);
}

/** Reads a text. Throws an `InputError` of flag `field` if the file is unreadable or longer than `mostBytes`. */
export function readInput(file: string, field: string, mostBytes = Number.POSITIVE_INFINITY): string {
  let fault: string;
  try {
    const { size } = statSync(file);
    // Some editors begin a file with a byte order mark.
    if (size <= mostBytes) return readFileSync(file, 'utf8').replace(/^\ufeff/, '');
    fault = `${size} bytes, more than ${mostBytes}`;
  } catch (error) {
    fault = (error as Error).message;
  }
  throw new InputError(field, 'a readable file', undefined, `${file}: ${fault}`);
}

export function readJson(file: string, field: string): unknown {
  return parsedJson(readInput(file, field), file);
}

/** Reads results, also partial ones if `allowPartial`, from a file of any size. Errors of reading name `flag`. */
export function readResults(file: string, { flag = 'results', allowPartial = false } = {}): Results {
  try {
    return parseResults(linesOf(file), file, { allowPartial });
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(flag, 'a readable file', undefined, `${file}: ${(error as Error).message}`);
  }
}

/** `leo-abr bench` writes this file beside its results: JSON lines with the full record of each session. */
export function rawFileOf(file: string): string {
  return `${file.replace(/\.json$/, '')}.raw.jsonl`;
}

function* linesOf(file: string): Generator<string> {
  const descriptor = openSync(file, 'r');
  try {
    const decoder = new TextDecoder();
    const chunk = Buffer.alloc(1 << 20);
    let rest = '';
    for (let size = readSync(descriptor, chunk); size > 0; size = readSync(descriptor, chunk)) {
      const lines = (rest + decoder.decode(chunk.subarray(0, size), { stream: true })).split('\n');
      rest = lines.pop()!;
      yield* lines;
    }
    yield rest;
  } finally {
    closeSync(descriptor);
  }
}
