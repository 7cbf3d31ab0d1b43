/**
 * `npm run bench:service -- [seconds=60] [subscribers=500] [requestsPerSecond=200] [households=20] [players=1]`: loads a
 * prediction service in a process of its own. Each household reports from an address of its own, for all its players at
 * once. Prints response times, lost or repeated events, memory and processor time in Markdown.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get, request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleInto } from './bundled-sources.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const [seconds = 60, subscribers = 500, perSecond = 200, households = 20, players = 1] = process.argv
  .slice(2)
  .map(Number);
const WARM_UP_SECONDS = 5;
/** Interval of memory samples. */
const USAGE_SECONDS = Math.max(2, seconds / 30);

const folder = mkdtempSync(join(root, 'build', 'bench-service-'));
try {
  await bench();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function bench() {
  const child = fork(await bundleInto(folder, 'scripts/bench-service.entry.js'), { execArgv: ['--expose-gc'] });
  const answer = () => new Promise((resolve) => child.once('message', resolve));
  const ask = (message) => {
    const answered = answer();
    child.send(message);
    return answered;
  };
  const { url } = await answer();
  const { skyMs } = await ask('sky');
  const streams = await Promise.all(Array.from({ length: subscribers }, () => subscribe(url)));
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const latencies = [];
  const failures = [];
  const usages = [];
  const startMs = performance.now();
  const endMs = startMs + (WARM_UP_SECONDS + seconds) * 1000;
  let sent = 0;
  let usageAtMs = startMs + WARM_UP_SECONDS * 1000;
  while (performance.now() < endMs) {
    if (performance.now() >= usageAtMs) {
      usageAtMs = performance.now() + USAGE_SECONDS * 1000;
      usages.push(await ask('usage'));
    }
    const due = ((performance.now() - startMs) / 1000) * perSecond;
    for (; sent < due; sent++) {
      const isWarm = usages.length > 0;
      askService(url, agent, sent).then(
        ({ ms, status, rejected }) => {
          if (status !== 200) failures.push(status);
          else if (rejected !== undefined) failures.push(rejected);
          else if (isWarm) latencies.push(ms);
        },
        (error) => failures.push(error.message),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const after = await ask('usage');
  const events = streams.map((stream) => stream.close());
  agent.destroy();
  child.send('end');
  report({ latencies, failures, usages, after, events, skyMs });
}

function report({ latencies, failures, usages, after, events, skyMs }) {
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))].toFixed(1);
  const cpuSeconds = ({ cpu }) => (cpu.user + cpu.system) / 1e6;
  const cpu = (cpuSeconds(after) - cpuSeconds(usages[0])) / (seconds + 1);
  const third = Math.max(1, Math.floor(usages.length / 3));
  const mean = (some, of) => (some.reduce((sum, one) => sum + one[of], 0) / some.length / 1e6).toFixed(1);
  const thirds = (of) => `${mean(usages.slice(0, third), of)}, ${mean(usages.slice(-third), of)} MB`;
  const counts = events.map(({ sequences }) => sequences.length);
  const isBroken = ({ sequences }) => sequences.some((sequence, i) => i > 0 && sequence !== sequences[i - 1] + 1);
  const last = Math.max(...events.map(({ sequences }) => sequences.at(-1)));
  const isBehind = ({ sequences }) => sequences.at(-1) < last - 1;
  const number = (condition) => events.filter(condition).length;
  const rows = [
    ['event streams, requests per second, duration', `${subscribers}, ${perSecond}, ${seconds} s`],
    ['households, players in each', `${households}, ${players}`],
    ['responses', `${latencies.length}, ${failures.length} failed`],
    ['p50, p90, p99, longest', `${at(0.5)}, ${at(0.9)}, ${at(0.99)}, ${at(1)} ms`],
    ['events per stream', `${Math.min(...counts)} to ${Math.max(...counts)}`],
    [
      'streams with lost or repeated events, ended early, behind',
      `${number(isBroken)}, ${number(({ hasEnded }) => hasEnded)}, ${number(isBehind)}`,
    ],
    ['slow readers disconnected, faults', `${after.slowReaders}, ${after.faults.length}`],
    ['processor time', `${(cpu * 100).toFixed(0)} % of a core`],
    ['heap, first and last third', thirds('heapUsed')],
    ['resident, first and last third', thirds('rss')],
    ['10,000 satellites located once', `${skyMs.toFixed(1)} ms of processor time`],
  ];
  console.log(`| | |\n| --- | --- |\n${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}`);
  for (const failure of new Set(failures)) console.log(`failure: ${failure}`);
  for (const fault of new Set(after.faults)) console.log(`fault: ${fault}`);
}

/** Opens an event stream; `close` returns the sequence numbers of its events. */
function subscribe(url) {
  return new Promise((resolve, reject) => {
    const sent = get(`${url}/v1/events`, { agent: false }, (response) => {
      const sequences = [];
      let rest = '';
      response.setEncoding('utf8').on('data', (text) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop();
        for (const line of lines) if (line.startsWith('id: ')) sequences.push(Number(line.split('.')[1]));
      });
      resolve({
        close() {
          const hasEnded = response.closed;
          sent.destroy();
          return { sequences, hasEnded };
        },
      });
    });
    sent.on('error', reject);
  });
}

/** Sends request `n`: alternately a household's report, half a second of download of each player, and a query. */
function askService(url, agent, n) {
  const isReport = n % 2 === 0;
  const path = isReport
    ? '/v1/observations'
    : ['/v1/forecast', '/v1/handovers', '/v1/state', '/v1/forecast'][(n >> 1) % 4];
  const endMs = Date.now();
  const observations = Array.from({ length: 5 }, (_, i) => ({
    kind: 'throughput',
    startMs: endMs - (5 - i) * 100,
    endMs: endMs - (4 - i) * 100,
    bits: 4e5 * (1 + Math.random()),
  }));
  const household = (n >> 1) % households;
  const [first, ...others] = Array.from({ length: players }, (_, i) => ({
    player: `player-${household}-${i}`,
    observations,
  }));
  const body = isReport ? JSON.stringify(others.length > 0 ? { ...first, others } : first) : undefined;
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    const headers = isReport ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } : {};
    const options = { agent, localAddress: `127.0.1.${household + 1}`, method: isReport ? 'POST' : 'GET', headers };
    const sent = request(`${url}${path}`, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      response.on('end', () => {
        const ms = performance.now() - startMs;
        const rejected = isReport ? rejectionIn(text, others.length) : undefined;
        resolve({ ms, status: response.statusCode, rejected });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Why observations of a report were not taken; undefined if all were. */
function rejectionIn(text, others) {
  const reply = JSON.parse(text);
  const answers = [reply, ...(reply.others ?? [])];
  if (answers.length <= others || answers.includes(null)) return 'players were not taken';
  return answers.flatMap(({ rejected }) => rejected)[0]?.reason;
}
