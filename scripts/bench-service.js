/** `npm run bench:service`. */
import { fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, get, request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleInto } from './bundled-sources.js';
import { commandLine } from './command-line.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const { positionals, refuse } = commandLine(
  `usage: npm run bench:service -- [seconds=60] [subscribers=500] [requestsPerSecond=200] [households=20] [restart]

Loads a prediction service in a process of its own. Each household has a player that reports from an address of its own.
Prints response times, lost or repeated events, memory and processor time in Markdown. With \`restart\`,
the service records, is killed after a third of the time, and ends properly after two thirds; also prints what got lost
and when streams had forecasts again.`,
  { positionals: 5 },
);
const isRestarted = positionals.at(-1) === 'restart';
const numbers = isRestarted ? positionals.slice(0, -1) : positionals;
if (numbers.length > 4 || numbers.some((text) => !(Number(text) > 0))) {
  refuse(`expected at most four positive numbers, then \`restart\` or nothing; got ${positionals.join(' ')}`);
}
const [seconds = 60, subscribers = 500, perSecond = 200, households = 20] = numbers.map(Number);
const WARM_UP_SECONDS = 5;
/** Interval of memory samples. */
const USAGE_SECONDS = Math.max(2, seconds / 30);

/** Pause before a stream reconnects. */
const RECONNECT_MS = 100;

mkdirSync(join(root, 'build'), { recursive: true });
const folder = mkdtempSync(join(root, 'build', 'bench-service-'));
try {
  await bench();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function bench() {
  const entry = await bundleInto(folder, 'scripts/bench-service.entry.js');
  const kept = isRestarted ? [join(folder, 'kept')] : [];
  const start = (port) => fork(entry, [port, ...kept], { execArgv: ['--expose-gc'] });
  let child = start('0');
  const answer = () => new Promise((resolve) => child.once('message', resolve));
  const ask = (message) => {
    const answered = answer();
    child.send(message);
    return answered;
  };
  const { url } = await answer();
  const downs = [];
  const restart = async (how) => {
    const down = { how, atMs: performance.now(), upMs: Number.NaN };
    downs.push(down);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (how === 'killed') child.kill('SIGKILL');
    else child.send('end');
    await ended;
    child = start(new URL(url).port);
    await answer();
    down.upMs = performance.now();
  };
  const dues = isRestarted ? ['killed', 'ended'] : [];
  const acknowledged = new Set();
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
    const passed = (performance.now() - startMs) / (endMs - startMs);
    if (dues.length > 0 && passed > downs.length / 3 + 1 / 3) restart(dues.shift());
    if (performance.now() >= usageAtMs && downs.every(({ upMs }) => upMs > 0)) {
      usageAtMs = performance.now() + USAGE_SECONDS * 1000;
      usages.push(await ask('usage'));
    }
    const due = ((performance.now() - startMs) / 1000) * perSecond;
    for (; sent < due; sent++) {
      const isWarm = usages.length > 0;
      askService(url, agent, sent).then(
        ({ ms, status, rejected, bits }) => {
          if (status !== 200) failures.push(status);
          else if (rejected !== undefined) failures.push(rejected);
          else if (isWarm) latencies.push(ms);
          for (const one of bits) acknowledged.add(one);
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
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.send('end');
  await ended;
  report({ latencies, failures, usages, after, events, restarts: restartRows({ downs, events, acknowledged }) });
}

function restartRows({ downs, events, acknowledged }) {
  if (!isRestarted) return [];
  const records = readdirSync(join(folder, 'kept')).filter((name) => name.startsWith('records-'));
  const text = records.map((name) => readFileSync(join(folder, 'kept', name), 'utf8')).join('');
  const recorded = new Set([...text.matchAll(/"bits":([\d.]+)/g)].map(([, bits]) => Number(bits)));
  const lost = [...acknowledged].filter((bits) => !recorded.has(bits)).length;
  const rows = downs.map(({ how, atMs, upMs }) => {
    const again = events.map(({ forecastsMs }) => forecastsMs.find((ms) => ms > upMs - RECONNECT_MS) - atMs);
    const text = `${Math.round(upMs - atMs)}, ${Math.round(Math.min(...again))} to ${Math.round(Math.max(...again))} ms`;
    return [`${how}: listens again after, streams have a forecast after`, text];
  });
  return [['acknowledged observations, of these lost', `${acknowledged.size}, ${lost}`], ...rows];
}

function report({ latencies, failures, usages, after, events, restarts }) {
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
    ['households', `${households}`],
    ['responses', `${latencies.length}, ${failures.length} failed`],
    ['p50, p90, p99, longest', `${at(0.5)}, ${at(0.9)}, ${at(0.99)}, ${at(1)} ms`],
    ['events per stream', `${Math.min(...counts)} to ${Math.max(...counts)}`],
    [
      'streams with lost or repeated events, ended early, behind',
      `${number(isBroken)}, ${number(({ hasEnded }) => hasEnded)}, ${number(isBehind)}`,
    ],
    ['slow readers disconnected, faults', `${after.slowReaders}, ${after.faults.length}`],
    ...(isRestarted ? [] : [['processor time', `${(cpu * 100).toFixed(0)} % of a core`]]),
    ['heap, first and last third', thirds('heapUsed')],
    ['resident, first and last third', thirds('rss')],
    ...restarts,
  ];
  console.log(`| | |\n| --- | --- |\n${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}`);
  for (const failure of new Set(failures)) console.log(`failure: ${failure}`);
  for (const fault of new Set(after.faults)) console.log(`fault: ${fault}`);
}

/** Opens an event stream, also again. `close` returns the numbers of its events since, and the times of forecasts. */
function subscribe(url) {
  const stream = { sequences: [], forecastsMs: [], hasEnded: false };
  let sent;
  const open = (resolve) => {
    sent = get(`${url}/v1/events`, { agent: false }, (response) => {
      let rest = '';
      response.setEncoding('utf8').on('data', (text) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop();
        for (const line of lines) {
          // The ids of a restarted service begin again.
          if (line === 'event: hello') stream.sequences = [];
          else if (line === 'event: forecast') stream.forecastsMs.push(performance.now());
          else if (line.startsWith('id: ')) stream.sequences.push(Number(line.slice(4)));
        }
      });
      resolve?.({ close });
    });
    sent.on('error', () => {});
    sent.on('close', () => {
      stream.hasEnded ||= !isRestarted;
      if (isRestarted && !isClosed) setTimeout(open, RECONNECT_MS);
    });
  };
  let isClosed = false;
  const close = () => {
    isClosed = true;
    const { hasEnded } = stream;
    sent.destroy();
    return { ...stream, hasEnded };
  };
  return new Promise(open);
}

/** Sends request `n`: alternately a household's report of half a second of download, and a query. */
function askService(url, agent, n) {
  const isReport = n % 2 === 0;
  const path = isReport ? 'observations' : ['forecast', 'handovers', 'state', 'forecast'][(n >> 1) % 4];
  const endMs = Date.now();
  const observations = Array.from({ length: 5 }, (_, i) => ({
    kind: 'throughput',
    startMs: endMs - (5 - i) * 100,
    endMs: endMs - (4 - i) * 100,
    // Unique, so that it can be found in the recording.
    bits: Math.floor(4e5 * (1 + Math.random())) + (5 * n + i) / 1e7,
  }));
  const household = (n >> 1) % households;
  const body = isReport ? JSON.stringify({ player: `player-${household}`, observations }) : undefined;
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    const headers = isReport ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } : {};
    const options = { agent, localAddress: `127.0.1.${household + 1}`, method: isReport ? 'POST' : 'GET', headers };
    const sent = request(`${url}/v1/${path}`, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      response.on('end', () => {
        const ms = performance.now() - startMs;
        const { statusCode: status } = response;
        const rejected = isReport ? JSON.parse(text).rejected?.[0]?.reason : undefined;
        const isTaken = isReport && status === 200 && rejected === undefined;
        resolve({ ms, status, rejected, bits: isTaken ? observations.map((one) => one.bits) : [] });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
