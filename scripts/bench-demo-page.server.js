/** The demo's server, and how to tell that its page plays, for scripts/bench-demo-page.js and scripts/demo-page-heap.js. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** In the page: every player has played something. */
export const ALL_PLAY = `(() => {
  const videos = [...document.querySelectorAll('video')];
  return videos.length > 0 && videos.every(({ currentTime }) => currentTime > 0);
})()`;

/** What `npm start` starts, in a process of its own, on a free port. */
export async function startDemo() {
  const vite = spawn(process.execPath, ['node_modules/vite/bin/vite.js', '--port', '0', '--clearScreen', 'false'], {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const url = await new Promise((resolve, reject) => {
    vite.stdout.on('data', (chunk) => {
      output += chunk;
      const address = /Local:\s+(http:\S+)/.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
    vite.once('exit', (code) => reject(new Error(`vite ended with ${code}:\n${output}`)));
  });
  const stop = async () => {
    const ended = once(vite, 'exit');
    vite.kill();
    await ended;
  };
  return { url, stop };
}
