/**
 * A live origin for a manual check (docs/live.md): keeps what an encoder PUTs and passes each chunk to open GETs as it
 * comes. `/` is a page that plays `/live.mpd` with the plugin and prints a line every 10 s (`?controller=`, or `none`
 * for dash.js alone; `&delay=` seconds behind live); `/utc` is for UTCTiming. It takes what anybody sends, and so listens
 * on the loopback only: `node live-server.js [port]`.
 */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const PAGE = `<!doctype html><script src="/dash.js"></script>
<video muted autoplay width="640"></video><pre></pre><script type="module">
  import { attachLeoAbr } from '/leo-abr.js';
  const video = document.querySelector('video');
  const player = dashjs.MediaPlayer().create();
  const { controller = 'mpc-l', delay = NaN } = Object.fromEntries(new URLSearchParams(location.search));
  player.updateSettings({ streaming: { liveCatchup: { enabled: true }, delay: { liveDelay: Number(delay) } } });
  let decisions = 0, stalls = 0, faults = 0;
  if (controller !== 'none') {
    const handle = attachLeoAbr(player, { controller });
    handle.on('decision', () => decisions++);
    handle.on('fault', ({ code, message }) => console.warn(++faults, code, message));
  }
  video.addEventListener('waiting', () => stalls++);
  player.initialize(video, location.origin + '/live.mpd', true);
  setInterval(() => {
    const latency = player.getCurrentLiveLatency().toFixed(2);
    const line = video.currentTime.toFixed(0) + ' s: ' + video.videoWidth + ' wide, ' + latency + ' s late, ' +
      decisions + ' decisions, ' + stalls + ' waits, ' + faults + ' faults';
    document.querySelector('pre').prepend(line + '\\n');
    decisions = stalls = faults = 0;
  }, 10000);
</script>`;

const dist = (path) => readFileSync(new URL(`../../${path}`, import.meta.url));
const done = (body) => ({ chunks: [Buffer.from(body)], readers: new Set(), isComplete: true });
const files = new Map([
  ['/', done(PAGE)],
  ['/dash.js', done(dist('node_modules/dashjs/dist/modern/umd/dash.all.min.js'))],
  ['/leo-abr.js', done(dist('dist/leo-abr.js'))],
]);

createServer((request, response) => {
  const { pathname: path } = new URL(request.url, 'http://localhost');
  const { method } = request;
  if (method === 'PUT' || method === 'POST') {
    const file = { chunks: [], readers: new Set(), isComplete: false };
    // When a manifest is complete, it replaces the former manifest.
    if (!path.endsWith('.mpd')) files.set(path, file);
    request.on('data', (chunk) => {
      file.chunks.push(chunk);
      for (const reader of file.readers) reader.write(chunk);
    });
    request.on('end', () => {
      file.isComplete = true;
      files.set(path, file);
      for (const reader of file.readers) reader.end();
      response.end();
    });
    return;
  }
  if (method === 'DELETE') files.delete(path);
  if (path === '/utc') return response.end(new Date().toISOString());
  const file = files.get(path);
  if (file === undefined) return response.writeHead(method === 'DELETE' ? 204 : 404).end();
  const type = { mpd: 'application/dash+xml', js: 'text/javascript', '/': 'text/html' }[path.split('.').at(-1)];
  response.writeHead(200, { 'content-type': type ?? 'video/mp4', 'cache-control': 'no-store' });
  for (const chunk of file.chunks) response.write(chunk);
  if (file.isComplete) return response.end();
  file.readers.add(response);
  response.on('close', () => file.readers.delete(response));
}).listen(Number(process.argv[2] ?? 8080), '127.0.0.1', function () {
  // biome-ignore lint/suspicious/noConsole: its output.
  console.log(`http://127.0.0.1:${this.address().port}/`);
});
