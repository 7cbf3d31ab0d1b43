/** `npm run engines:old`. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { commandLine } from './command-line.js';

commandLine(`usage: npm run engines:old

Gets Chromium 68 and 72 for the browser tests (Linux on x64): downloads the npm package chrome-aws-lambda, which has them
(70 MB), checks its hash, and unpacks them into build/engines/ (230 MB). They need libnss3 and libexpat1.`);

/** Engine, version of the package, its file, and the package's SHA-512. */
const ENGINES = [
  [
    'chromium-68',
    '1.4.0',
    'chromium-68.0.3419.0.br',
    'TKbIW6zM8pO26QxxeB1uIMBzSmF5KaHqzXfpMXl8ynyB3YQpGnxFTnmEB3ALm+Z/szb0LD8PGhOqAAkObSowzQ==',
  ],
  [
    'chromium-72',
    '1.11.2',
    'chromium-72.0.3617.0.br',
    'BpR7qYNkPZlMQGZI3/edrPT4Rx9Hd/Z+YV3dQ5ujfWj01r27pYYOoOmMd2w3mkmFeHF7nzFlksM/urKnfICwDQ==',
  ],
];

const home = fileURLToPath(new URL('../build/engines', import.meta.url));
mkdirSync(home, { recursive: true });
for (const [engine, version, file, sha512] of ENGINES) {
  const path = join(home, engine);
  if (existsSync(path)) continue;
  const folder = mkdtempSync(`${path}.`);
  try {
    const args = ['pack', '--loglevel=error', `chrome-aws-lambda@${version}`, '--pack-destination', folder];
    const name = execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    const tarball = readFileSync(join(folder, name.trim()));
    const hash = createHash('sha512').update(tarball).digest('base64');
    if (hash !== sha512) throw new Error(`${name.trim()}: expected SHA-512 ${sha512}, got ${hash}`);
    execFileSync('tar', ['-xzf', '-', '-C', folder, `package/bin/${file}`], { input: tarball });
    const beside = join(folder, engine);
    writeFileSync(beside, brotliDecompressSync(readFileSync(join(folder, 'package/bin', file))), { mode: 0o755 });
    execFileSync(beside, ['--headless', '--no-sandbox', '--disable-gpu', '--dump-dom', 'about:blank'], {
      stdio: 'ignore',
    });
    renameSync(beside, path);
    console.log(`${path}: ready`);
  } catch (error) {
    console.error(`${engine} is not available here: ${error.message}`);
    process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
