/** `npm run bench:service`: a prediction service under load; see the usage below. */
import { fork } from 'node:child_process';
import { Agent, get, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundledSources } from './bundled-sources.js';
import { commandLine } from './command-line.js';

const { values: flags, refuse } = commandLine(
  `usage: npm run bench:service -- [--seconds 120] [--streams 500] [--rate 200]

Loads a prediction service with a simulated dish in a process of its own: event streams, and requests per second, half of
them reports of twenty players, half queries. Prints response times, lost events, processor time and growth of memory.`,
  {
    options: {
      seconds: { type: 'string', default: '120' },
      streams: { type: 'string', default: '500' },
      rate: { type: 'string', default: '200' },
      serve: { type: 'boolean', default: false },
    },
  },
);
const [seconds, streams, rate] = ['seconds', 'streams', 'rate'].map((name) => {
  if (!(Number(flags[name]) > 0)) refuse(`--${name}: expected a number > 0, got ${flags[name]}`);
  return Number(flags[name]);
});
await (flags.serve ? serve() : bench());

/** The process of the service: sends its URL, and its memory and processor time whenever it is asked. */
async function serve() {
  const { startService } = await bundledSources('service/start-service.ts');
  const { syntheticDish } = await bundledSources('service/fake-dish/simulated-dish.ts');
  const faults = [];
  const limits = { rate: { perSecond: 1e6, burst: 1e6 }, subscribersOfAddress: 1e6 };
  const onFault = (error) => faults.push(error.message);
  const { url } = await startService({ version: 'bench', port: 0, dish: syntheticDish({ seed: 1 }), limits, onFault });
  process.on('message', () => process.send({ rss: process.memoryUsage().rss, cpu: process.cpuUsage(), faults }));
  process.send({ url });
}

async function bench() {
  const child = fork(process.argv[1], ['--serve']);
  const answer = () => new Promise((resolve) => child.once('message', resolve));
  const usage = () => {
    const answered = answer();
    child.send('usage');
    return answered;
  };
  try {
    const { url } = await answer();
    const opened = await Promise.all(Array.from({ length: streams }, () => openStream(url)));
    const agent = new Agent({ keepAlive: true, maxSockets: 64 });
    const before = await usage();
    const startMs = performance.now();
    const responses = [];
    while (performance.now() < startMs + seconds * 1000) {
      const due = ((performance.now() - startMs) / 1000) * rate;
      while (responses.length < due) responses.push(ask(url, agent, responses.length));
      await sleep(2);
    }
    const answers = await Promise.all(responses);
    report({ answers, opened, before, after: await usage(), wallSeconds: (performance.now() - startMs) / 1000 });
  } finally {
    child.kill();
  }
  process.exit();
}

/** Opens an event stream; `ids` are the numbers of its events. */
function openStream(url) {
  const stream = { ids: [], hasEnded: false };
  return new Promise((resolve, reject) => {
    get(`${url}/v1/events`, { agent: false }, (response) => {
      let rest = '';
      response.setEncoding('utf8').on('data', (piece) => {
        const lines = (rest + piece).split('\n');
        rest = lines.pop();
        for (const line of lines) if (line.startsWith('id: ')) stream.ids.push(Number(line.slice(4)));
      });
      response.on('close', () => {
        stream.hasEnded = true;
      });
      resolve(stream);
    }).on('error', reject);
  });
}

/** Sends request `n`; resolves with its duration in ms, and what failed. */
function ask(url, agent, n) {
  const endMs = Date.now();
  const observations = [{ kind: 'throughput', startMs: endMs - 500, endMs, bits: 2e6 + 1e3 * (n % 1000) }];
  const body = n % 2 === 0 ? JSON.stringify({ player: `player-${(n >> 1) % 20}`, observations }) : undefined;
  const path = body ? 'observations' : ['forecast', 'handovers', 'state'][(n >> 1) % 3];
  const headers = body ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } : {};
  const startMs = performance.now();
  return new Promise((resolve) => {
    const sent = request(`${url}/v1/${path}`, { agent, method: body ? 'POST' : 'GET', headers }, async (response) => {
      const said = await text(response);
      const refused = body ? JSON.parse(said).rejected?.[0]?.reason : undefined;
      resolve({
        ms: performance.now() - startMs,
        failure: response.statusCode === 200 ? refused : `status ${response.statusCode}`,
      });
    });
    sent.on('error', (error) => resolve({ ms: performance.now() - startMs, failure: error.message }));
    sent.end(body);
  });
}

function report({ answers, opened, before, after, wallSeconds }) {
  const sorted = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  const [p50, p99, longest] = [0.5, 0.99, 1].map((share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(1),
  );
  const failures = answers.flatMap(({ failure }) => failure ?? []);
  const lost = opened.filter(({ ids, hasEnded }) => hasEnded || ids.some((id, i) => i > 0 && id !== ids[i - 1] + 1));
  const counts = opened.map(({ ids }) => ids.length);
  const cpuSeconds = (after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system) / 1e6;
  console.log(`${answers.length} responses in ${wallSeconds.toFixed(0)} s, ${failures.length} failed
p50 ${p50}, p99 ${p99}, longest ${longest} ms
${streams} event streams, ${Math.min(...counts)} to ${Math.max(...counts)} events each; ended or with lost events: ${lost.length}
processor ${((100 * cpuSeconds) / wallSeconds).toFixed(0)} % of a core, memory ${((after.rss - before.rss) / 1e6).toFixed(0)} MB more than before, faults: ${after.faults.length}`);
  for (const one of new Set([...failures, ...after.faults])) console.log(`failure: ${one}`);
}
