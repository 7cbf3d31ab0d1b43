/** Measures a running `leo-abr collect`. */
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLine } from '../scripts/command-line.js';

const text = { type: 'string' };
const { values, refuse } = commandLine(
  `usage: node e2e/collect-load.js --out <folder> [--url <url>] [--rate <n>] [--seconds <n>]

Sends reports to a collector of that folder, which was started with \`--rate 1000000\`: so many a second (default 1000, for
30 s), whether or not earlier ones are answered. Prints the quantiles of the time to the answer, and how many reports that
were answered are not in the folder. The exit status is 1 if there are any.`,
  { options: { out: text, url: text, rate: text, seconds: text } },
);
const { out, url = 'http://127.0.0.1:8791/v1/reports', rate = '1000', seconds = '30' } = values;
const count = Number(rate) * Number(seconds);
if (!out || !(count > 0)) refuse('expected --out, and numbers above 0 in --rate and --seconds');

const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const run = Date.now().toString(16).padStart(11, '0');
const report = {
  ...{
    version: 1,
    day: new Date().toISOString().slice(0, 10),
    leoAbr: '0.1.0',
    player: 'dash.js',
    playerVersion: '5.2.1',
  },
  ...{
    browser: 'chromium',
    live: false,
    controller: 'mpc-l',
    trial: 'load',
    arm: 'leo-abr',
    armShare: 0.5,
    unit: 'viewer',
  },
  ...{
    cluster: 1,
    ended: 'page',
    started: true,
    startupSeconds: 1,
    watchedSeconds: 60,
    stallSeconds: 0,
    stallCount: 0,
  },
  ...{ switches: 3, requestedBits: 1e8, wastedBits: 0, faults: [], observedFromMs: Date.now() },
  observations: Array.from({ length: 300 }, (_, i) => 20000 + i).join(),
};

/** Resolves to the milliseconds to the answer and whether it was 204. */
const send = (id, dueMs) =>
  new Promise((resolve) => {
    const ended = (isAnswered) => resolve({ id, isAnswered, ms: performance.now() - dueMs });
    const sending = request(url, { method: 'POST', agent, headers: { 'content-type': 'text/plain' } }, (response) => {
      response.resume().on('end', () => ended(response.statusCode === 204));
    });
    sending.on('error', () => ended(false)).end(JSON.stringify({ ...report, id }));
  });

const startMs = performance.now();
const sent = [];
while (sent.length < count) {
  const due = Math.min(count, Math.floor(((performance.now() - startMs) / 1000) * Number(rate)));
  while (sent.length < due) {
    const id = run + sent.length.toString(16).padStart(5, '0');
    sent.push(send(id, startMs + (1000 * sent.length) / Number(rate)));
  }
  await sleep(1);
}
const results = await Promise.all(sent);
const answered = results.filter(({ isAnswered }) => isAnswered);
const ms = answered.map((one) => one.ms).sort((a, b) => a - b);
const stored = new Set();
for (const name of readdirSync(out)) {
  for (const [, id] of readFileSync(join(out, name), 'utf8').matchAll(/"id":"(\w{16})"/g)) stored.add(id);
}
const lost = answered.filter(({ id }) => !stored.has(id)).length;
const at = (level) => ms[Math.floor(level * (ms.length - 1))]?.toFixed(1);
console.log(
  `${results.length} sent in ${((performance.now() - startMs) / 1000).toFixed(1)} s, ${answered.length} answered, ${lost} lost`,
);
console.log(`to the answer: median ${at(0.5)} ms, 99 % ${at(0.99)} ms, longest ${at(1)} ms`);
agent.destroy();
process.exitCode = lost > 0 ? 1 : 0;
