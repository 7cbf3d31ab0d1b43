/** `npm run size`. A change that grows the plugin on purpose also raises the budget. */
import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { parse } from 'acorn';
import { commandLine } from './command-line.js';

commandLine(`usage: npm run size

Compares the built plugin's size in brotli with scripts/size-budget.json (bytes). The exit status is 1 if a file is over
its budget, not in ASCII (a page that declares no charset reads other characters as different ones), or not in ES2018, the
syntax of old televisions; \`leo-abr/onnx\` and its Worker have import() and import.meta.`);

const root = new URL('../', import.meta.url);
const budget = JSON.parse(readFileSync(new URL('scripts/size-budget.json', root), 'utf8'));
for (const [file, allowed] of Object.entries(budget)) {
  const content = readFileSync(new URL(file, root));
  const bytes = brotliCompressSync(content).length;
  const problems = [];
  if (bytes > allowed) problems.push(', over the budget');
  if (!content.every((byte) => byte < 127)) problems.push(', not in ASCII');
  const ecmaVersion = file.includes('onnx') ? 2020 : 2018;
  try {
    parse(String(content), { sourceType: 'module', ecmaVersion });
  } catch ({ message }) {
    problems.push(`, not in ES${ecmaVersion}: ${message}`);
  }
  console.log(`${file}: ${bytes} of ${allowed} bytes in brotli${problems.join('')}`);
  if (problems.length > 0) process.exitCode = 1;
}
