/**
 * `node scripts/calibrate-origin.js [sessions]`: how true the origin keeps to a trace, in real time (35 s per trace).
 * Clients in a thread of their own download segment after segment (one representation of pensieve-60 or uhd-8), first
 * one session alone, then as many side by side as asked for (default 8). Prints per trace: bytes that came over what the
 * trace delivers in the same time, and the error of download times against the trace (the client's clock, from the
 * request to the last byte).
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const SECONDS = 30;

if (isMainThread) await calibrate(Number(process.argv[2] ?? 8));
else parentPort.postMessage(await Promise.all(workerData.map((urls) => downloadFor(urls, SECONDS * 1000))));

/**
 * Downloads one URL after the other until time is up; of each the session's second at which the origin had the request,
 * and by the client's clock the seconds to the first and the last byte.
 */
async function downloadFor(urls, milliseconds) {
  const rows = [];
  const begin = performance.now();
  for (const url of urls) {
    const startMs = performance.now();
    if (startMs - begin > milliseconds) break;
    const response = await fetch(url);
    let firstByteMs = performance.now();
    let bytes = 0;
    for await (const chunk of response.body) {
      if (bytes === 0) firstByteMs = performance.now();
      bytes += chunk.length;
    }
    const seconds = (performance.now() - startMs) / 1000;
    const start = Number(response.headers.get('x-session-seconds'));
    rows.push({ start, seconds, latencySeconds: (firstByteMs - startMs) / 1000, bits: bytes * 8 });
  }
  return rows;
}

async function calibrate(sessionCount) {
  // Here alone: the clients' threads need no bundler.
  const { bundledSources } = await import('./bundled-sources.js');
  const replay = await bundledSources('scripts/calibrate-origin.entry.js');
  console.log(`${'trace'.padEnd(22)} sessions  goodput/trace  error median      p95      max  first byte p95`);
  const cases = ['small', 'medium', 'large'].flatMap(replay.calibrationCases);
  for (const { trace, scenario, representation } of cases) {
    for (const count of sessionCount > 1 ? [1, sessionCount] : [1]) {
      await run({ replay, trace, scenario, representation, count });
    }
  }
}

async function run({ replay, trace, scenario, representation, count }) {
  const origin = await replay.startOrigin();
  const sessions = Array.from({ length: count }, () => origin.createSession({ trace, scenario }));
  const urls = sessions.map(({ id }) =>
    Array.from(
      { length: scenario.segmentCount },
      (_, i) => `${origin.url}/session/${id}/video-${representation}/${i + 1}.m4s`,
    ),
  );
  const worker = new Worker(new URL(import.meta.url), { workerData: urls });
  const clients = await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  await origin.close();

  const link = replay.linkOf(trace, scenario);
  let bits = 0;
  let capacity = 0;
  const errors = [];
  const latencies = [];
  for (const { start, seconds, latencySeconds, bits: size } of clients.flat()) {
    errors.push(seconds / link.downloadSeconds(start, size) - 1);
    latencies.push(latencySeconds * 1000);
    bits += size;
    capacity += link.cumulativeBits(start + seconds) - link.cumulativeBits(start + scenario.rttSeconds);
  }
  errors.sort((a, b) => Math.abs(a) - Math.abs(b));
  latencies.sort((a, b) => a - b);
  const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  const percent = (value) => `${(100 * value).toFixed(2)} %`;
  console.log(
    `${trace.name.padEnd(24)} ${String(count).padStart(6)} ${(bits / capacity).toFixed(4).padStart(14)} ` +
      `${percent(at(errors, 0.5)).padStart(13)} ${percent(at(errors, 0.95)).padStart(8)} ${percent(errors.at(-1)).padStart(8)}` +
      `${at(latencies, 0.95).toFixed(1).padStart(9)} ms of ${1000 * scenario.rttSeconds}`,
  );
}
