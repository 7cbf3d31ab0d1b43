/** `npm run check:english`: finds patterns that stop a reader, in Markdown and in doc comments. */
import { commandLine, gitFiles, read } from './command-line.js';

commandLine(`usage: npm run check:english

Prints file:line, the words and the advice for each pattern that stops a reader. It reads the prose of all Markdown, and the
doc comments of all TypeScript. The status is 1 if it finds any.`);

/** The check leaves out generated pages and the history of changes. */
const LEFT_OUT = /^(predictor\/models\/|CHANGELOG\.md)/;
/** A sentence begins a line, a comment, a list item or a cell, or follows another sentence. */
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

const pages = gitFiles('*.md').filter((file) => !LEFT_OUT.test(file));
for (const file of pages) report(file, prose(read(file)), 'md');
for (const file of gitFiles('*.ts')) report(file, docComments(read(file)), 'ts');

/** Blanks code blocks, code in a line, addresses of links and generated tables. The number of lines stays. */
function prose(text) {
  const blank = (found) => found.replaceAll(/[^\n]/g, '');
  return text
    .replaceAll(/^ *```[\s\S]*?^ *```|^<!-- (options|table)[\s\S]*?<!-- \/\1 -->/gm, blank)
    .replaceAll(/^ {4}.*$|`[^`]*`|\]\([^)]*\)/gm, (found) => found.replaceAll(/[^\n]/g, '_'));
}

/** Blanks everything but doc comments. The number of lines stays. */
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
