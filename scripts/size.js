/** `npm run size`: checks the plugin's size. A change that grows the plugin on purpose also raises the budget. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { parse } from 'acorn';
import { commandLine, ROOT, read } from './command-line.js';

commandLine(`usage: npm run size

Compares the built plugin's size in brotli with scripts/size-budget.json (bytes). The exit status is 1 if a file is over
its budget, not in ASCII (a page that declares no charset reads other characters as different ones), or not in ES2018, the
syntax of old televisions; \`leo-abr/onnx\` and its Worker have import() and import.meta.`);

for (const [file, allowed] of Object.entries(JSON.parse(read('scripts/size-budget.json')))) {
  const content = readFileSync(join(ROOT, file));
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
