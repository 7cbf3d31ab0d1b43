/** `npm run check:english`: finds patterns that stop a reader, in Markdown and in doc comments; see the usage below. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandLine } from './command-line.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const USAGE = `usage: npm run check:english

Prints file:line, the words and the advice for each pattern that stops a reader. It reads the prose of all Markdown, and the
doc comments of all TypeScript. The status is 1 if it finds any.`;
/** Pages that are generated, and the history of changes. */
const LEFT_OUT = /^(predictor\/models\/|CHANGELOG\.md)/;
/** What begins a sentence: a line or comment of its own, a list item, a cell, or the end of the sentence before. */
const BEGIN = /(?<=^|[.?!:] |\| |[-*] )/.source;
const PATTERNS = [
  [`${BEGIN}Of (?!course)\\w+`, 'begin with the subject'],
  ['\\b(that|those) of\\b', 'repeat the noun'],
  [
    '\\b(another|the other|a new|the new|the first|the last|each new|old|new|later|earlier) ones?\\b(?=[.,;:)]|$)',
    'repeat the noun',
    'md',
  ],
  ['\\b(whoever|for whom|wherein|whereby)\\b', 'name the person, or begin with "if"'],
  ['\\bsuch\\b(?! as)', 'say which'],
  ['\\bin the mean\\b', 'write "on average", or "mean" before a noun'],
  ['\\breckons? (with|on)\\b', 'write "assumes"'],
  ['\\bhangs? on\\b', 'write "depends on"'],
  ['\\b(stands?|stood) still\\b', 'write "stalls" or "pauses"'],
  ['\\b(is|are|was|were) to be\\b', 'write "should be" or "must be"'],
  ['\\blikewise\\b', 'write "the same", or repeat the verb'],
  ['\\bso many\\b', 'give the number, or name the parameter'],
  ['\\bof late\\b', 'write "recently"'],
  ['\\bin the place of\\b', 'write "instead of"'],
].map(([source, advice, only]) => ({
  expression: new RegExp(source, source.startsWith(BEGIN) ? 'g' : 'gi'),
  advice,
  only,
}));

commandLine(USAGE, {});
const read = (file) => readFileSync(join(ROOT, file), 'utf8');
const list = (...paths) => execFileSync('git', ['ls-files', ...paths], { cwd: ROOT, encoding: 'utf8' }).split('\n');
const pages = list('*.md').filter((file) => file !== '' && !LEFT_OUT.test(file));
const sources = list('*.ts').filter((file) => file !== '');
for (const file of pages) report(file, prose(read(file)), 'md');
for (const file of sources) report(file, docComments(read(file)), 'ts');

/** The text with the same lines, without code blocks, code in a line, addresses of links and generated tables. */
function prose(text) {
  const blank = (found) => found.replaceAll(/[^\n]/g, '');
  return text
    .replaceAll(/^ *```[\s\S]*?^ *```|^<!-- (options|table)[\s\S]*?<!-- \/\1 -->/gm, blank)
    .replaceAll(/^ {4}.*$|`[^`]*`|\]\([^)]*\)/gm, (found) => found.replaceAll(/[^\n]/g, '_'));
}

/** The text with the same lines, of doc comments alone. */
function docComments(text) {
  const parts = text.split(/(\/\*\*[\s\S]*?\*\/)/);
  const bare = (comment) => comment.replaceAll(/\/\*\* ?|^ *\*\/?(?: |$)|\*\/$/gm, '').replaceAll(/`[^`\n]*`/g, '_');
  return parts.map((part) => (part.startsWith('/**') ? bare(part) : part.replaceAll(/[^\n]/g, ''))).join('');
}

function report(file, text, kind) {
  for (const [n, line] of text.split('\n').entries()) {
    for (const { expression, advice, only } of PATTERNS) {
      if (only !== undefined && only !== kind) continue;
      for (const [words] of line.matchAll(expression)) {
        console.log(`${file}:${n + 1}: "${words}": ${advice}`);
        process.exitCode = 1;
      }
    }
  }
}
