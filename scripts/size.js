/** `npm run size`: checks the plugin's size. A change that grows the plugin on purpose also raises the budget. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { parse } from 'acorn';
import { commandLine, ROOT, read } from './command-line.js';

commandLine(`usage: npm run size

Compares the built plugin's size in brotli with scripts/size-budget.json (bytes; if it changes: npm run tables). The exit
status is 1 if a file is over its budget, not in ASCII (a page that declares no charset reads other characters as
different ones), not in ES2018 (\`legacy\` files: not a script in ES2015), or uses a built-in that Chromium 68 (53) lacks,
without a fallback.
\`leo-abr/onnx\` and its Worker need newer browsers.`);

/** Built-ins by the version of Chromium that brought them. Names that the plugin's own members have are left out. */
const BUILT_INS = {
  54: 'Object.entries Object.values BroadcastChannel',
  57: '.padStart .padEnd .formatToParts',
  60: 'SharedArrayBuffer Atomics PaymentRequest',
  63: '.finally asyncIterator PluralRules',
  64: 'ResizeObserver EventTarget',
  66: 'AbortController AbortSignal .trimStart .trimEnd .abort',
  67: 'BigInt TransformStream',
  69: '.flat .flatMap',
  71: 'globalThis queueMicrotask TextEncoderStream TextDecoderStream .formatRange',
  73: 'Object.fromEntries .matchAll',
  76: '.allSettled',
  84: 'WeakRef',
  85: '.replaceAll .any',
  92: 'randomUUID',
  93: 'Object.hasOwn',
  97: '.findLast .findLastIndex',
  98: 'structuredClone',
  110: '.toSorted .toReversed .toSpliced',
  117: 'Object.groupBy Map.groupBy',
};

const newerThan = (version) =>
  Object.entries(BUILT_INS).flatMap(([since, names]) => (since > version ? names.split(' ') : []));
const uses = (code, name) =>
  new RegExp(`${name.startsWith('.') ? '' : '(?<![\\w$.])'}${name.replace('.', '\\.')}\\b(?!:)`).test(code);

for (const [file, allowed] of Object.entries(JSON.parse(read('scripts/size-budget.json')))) {
  const content = readFileSync(join(ROOT, file));
  const bytes = brotliCompressSync(content).length;
  const problems = [];
  if (bytes > allowed) problems.push(', over the budget');
  if (!content.every((byte) => byte < 127)) problems.push(', not in ASCII');
  const isLegacy = file.includes('.legacy.');
  const ecmaVersion = isLegacy ? 2015 : file.includes('onnx') ? 2020 : 2018;
  if (!file.includes('onnx')) {
    const used = newerThan(isLegacy ? 53 : 68).filter((name) => uses(String(content), name));
    if (used.length > 0) problems.push(`, uses ${used.join(', ')}`);
  }
  try {
    parse(String(content), { sourceType: isLegacy ? 'script' : 'module', ecmaVersion });
  } catch ({ message }) {
    problems.push(`, not in ES${ecmaVersion}: ${message}`);
  }
  console.log(`${file}: ${bytes} of ${allowed} bytes in brotli${problems.join('')}`);
  if (problems.length > 0) process.exitCode = 1;
}
