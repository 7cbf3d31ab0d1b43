/** `npm run engines:old`: unpacks Chromium 68 and 72 for the browser tests. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { commandLine, ROOT } from './command-line.js';

commandLine(`usage: npm run engines:old

Gets Chromium 68 and 72 for the browser tests (Linux on x64): downloads the npm package chrome-aws-lambda, which has them
(70 MB), checks its hash, and unpacks them into build/engines/ (230 MB). They need libnss3 and libexpat1.`);

/** The files of the package's versions, and the SHA-512 of each version. */
const ENGINES = {
  'chromium-68.0.3419.0 1.4.0':
    'TKbIW6zM8pO26QxxeB1uIMBzSmF5KaHqzXfpMXl8ynyB3YQpGnxFTnmEB3ALm+Z/szb0LD8PGhOqAAkObSowzQ==',
  'chromium-72.0.3617.0 1.11.2':
    'BpR7qYNkPZlMQGZI3/edrPT4Rx9Hd/Z+YV3dQ5ujfWj01r27pYYOoOmMd2w3mkmFeHF7nzFlksM/urKnfICwDQ==',
};

const home = join(ROOT, 'build/engines');
mkdirSync(home, { recursive: true });
for (const [key, sha512] of Object.entries(ENGINES)) {
  const [build, version] = key.split(' ');
  const [engine] = build.split('.');
  const path = join(home, engine);
  if (existsSync(path)) continue;
  const folder = mkdtempSync(`${path}.`);
  try {
    const args = ['pack', '--loglevel=error', `chrome-aws-lambda@${version}`, '--pack-destination', folder];
    const name = execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    const tarball = readFileSync(join(folder, name.trim()));
    const hash = createHash('sha512').update(tarball).digest('base64');
    if (hash !== sha512) throw new Error(`${name.trim()}: expected SHA-512 ${sha512}, got ${hash}`);
    execFileSync('tar', ['-xzf', '-', '-C', folder, `package/bin/${build}.br`], { input: tarball });
    const beside = join(folder, engine);
    const packed = readFileSync(join(folder, `package/bin/${build}.br`));
    writeFileSync(beside, brotliDecompressSync(packed), { mode: 0o755 });
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--dump-dom', 'about:blank'];
    execFileSync(beside, flags, { stdio: 'ignore' });
    renameSync(beside, path);
    console.log(`${path}: ready`);
  } catch (error) {
    console.error(`${engine} is not available here: ${error.message}`);
    process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
