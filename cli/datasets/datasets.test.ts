/** Fetches from a server in this process, which serves hand-made files and fails on demand. */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { beforeEach, expect, test } from '@jest/globals';
import { CAR_ZIP, IDP_ROWS, iperfReport, TIMED_LINES } from '../../replay/datasets/source-files.fixture.ts';
import { put, temporaryFolder } from '../../replay/folder.fixture.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import { type Answer, serving } from '../../replay/serving.fixture.ts';
import { interrupts, refused, run } from '../shared/run.fixture.ts';

const STARNET = 'luopeng69131__SafeSABR-dashjs-emulation';
const TRACE = 'data/starlink_holdout30/windows/osn_recording_046_window_000.trace';
const IDP = 'rcastellotti__idp/data/large_file_download_5parallel.csv';
const AUTOBAHN = 'sys-uos__Starlink-on-the-Autobahn/Data/Autobahn/throughput.zip';
const MMSYS24 = 'clarkzjw__mmsys24-starlink-livestreaming-data/src/throughput/downlink';
const IPERF = 'iperf3-0.1s-2m-2023-09-21-06-10-00.json';

const TREE = JSON.stringify({
  tree: [
    { path: TRACE, type: 'blob' },
    { path: 'data/starlink_holdout30/../../../../osn_recording_046_window_000.trace', type: 'blob' },
    { path: 'data', type: 'tree' },
  ],
});
const sha256Of = (text: string) => createHash('sha256').update(text).digest('hex');

const at = temporaryFolder('test');
let mirror: string;
let files: Record<string, string | Uint8Array>;
/** Requested paths. */
let requests: string[];
/** Answers a request. Default: with the file. */
let answer: (name: string, ...exchange: Parameters<Answer>) => void;

beforeEach(async () => {
  requests = [];
  answer = serve;
  files = {
    [`${STARNET}/tree.json`]: TREE,
    [`${STARNET}/${TRACE}`]: TIMED_LINES,
    [IDP]: IDP_ROWS,
    [AUTOBAHN]: CAR_ZIP,
  };
  const { url } = await serving((request, response) => {
    const name = decodeURI(request.url!).slice(1);
    requests.push(name);
    answer(name, request, response);
  });
  mirror = `${url}/`;
});

function serve(name: string, _request: IncomingMessage, response: ServerResponse): void {
  const content = files[name];
  response.writeHead(content === undefined ? 404 : 200).end(content ?? 'not here');
}

/** Sends the first bytes of a file, then calls `then`. */
function serveBeginning(response: ServerResponse, name: string, then: () => void): void {
  const content = Buffer.from(files[name]!);
  response.writeHead(200, { 'content-length': content.length });
  response.write(content.subarray(0, 1000), then);
}

const { onInterrupt, interrupt } = interrupts();
const datasets = (...args: string[]) => run(['datasets', ...args], { onInterrupt });

const fetchSets = (...args: string[]) =>
  datasets('fetch', '--mirror', mirror, '--cache', at('cache'), '--out', at('out'), '--accept-licences', ...args);

/** All files below a folder. */
const below = (name: string) =>
  (existsSync(at(name)) ? readdirSync(at(name), { recursive: true, withFileTypes: true }) : [])
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .sort();

test('list shows licence, source and citation of each set', async () => {
  const { status, stdout } = await datasets('list');
  expect(status).toBe(0);
  expect(stdout).toContain('uvic-zenodo: ');
  const source = 'https://github.com/rcastellotti/idp/tree/3a6383be42643e7c4886fee462f3b3b2df567b25';
  const cite = 'Zenodo, https://doi.org/10.5281/zenodo.10020034';
  for (const part of ['licence: CC BY 4.0', `source: ${source}`, `cite: ${cite}`])
    expect(stdout).toContain(`  ${part}\n`);
});

test('fetch writes traces with sidecars and a lock file; a second fetch downloads nothing', async () => {
  const { status, stderr } = await fetchSets('starnet', 'tum-idp');
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(stderr).toContain(`tum-idp: 2 recordings in ${at('out', 'tum-idp')}\n`);
  const osn = 'osn_recording_046_window_000';
  expect(below('out')).toEqual(
    ['datasets-lock.json', ...[osn, 'wget5-00', 'wget5-01'].flatMap((name) => [`${name}.csv`, `${name}.json`])].sort(),
  );
  const traces = readTraces([at('out')]);
  expect(traces.map(({ name, metadata }) => [name, metadata.dataset, metadata.recordingGroup])).toEqual([
    [osn, 'starnet', 'starnet-osn'],
    ['wget5-00', 'tum-idp', 'tum-munich-2023-07'],
    ['wget5-01', 'tum-idp', 'tum-munich-2023-07'],
  ]);
  expect(JSON.parse(readFileSync(at('out', 'datasets-lock.json'), 'utf8'))).toEqual({
    [`luopeng69131/SafeSABR-dashjs-emulation@c0b2ac48f2c96f3531f055b83b82f4a9b94156f2:${TRACE}`]: sha256Of(TIMED_LINES),
    'rcastellotti/idp@3a6383be42643e7c4886fee462f3b3b2df567b25:data/large_file_download_5parallel.csv':
      sha256Of(IDP_ROWS),
  });
  expect(requests).toEqual([`${STARNET}/tree.json`, `${STARNET}/${TRACE}`, IDP]);
  requests = [];
  expect(await fetchSets('starnet', 'tum-idp')).toMatchObject({ status: 0 });
  expect(requests).toEqual([]);
});

test('fetch shows the licences, needs --accept-licences, and explains what is wrong', async () => {
  const terms = /^tum-idp\n {2}licence: none stated.*\n {2}source: .*\n {2}cite: .*\n.*--accept-licences/;
  await refused(datasets('fetch', '--mirror', mirror, '--out', at('out'), 'tum-idp'), terms);
  await refused(fetchSets('nowhere'), /name: expected one of autobahn, .*, got "nowhere"/);
  await refused(fetchSets('road', '--from', 'here'), /--from: expected no --mirror beside it/);
  expect(requests).toEqual([]);
});

test.each<[string, Answer, RegExp]>([
  ['404', (_, response) => response.writeHead(404).end(), /autobahn: http:.*throughput.zip: .* got HTTP 404/],
  ['500', (_, response) => response.writeHead(500).end('sorry'), /got HTTP 500/],
  ['an HTML page', (_, response) => response.end('\n<!DOCTYPE html><p>Sign in'), /got an HTML page/],
  ['wrong bytes', (_, response) => response.end('not a zip'), /expected a zip archive/],
  ['no connection', (request) => request.socket.destroy(), /autobahn: http:.*expected the file, got/],
])('%s of one source does not stop the others, and is tried again', async (_case, failure, message) => {
  answer = (name, ...exchange) => (name === AUTOBAHN ? failure(...exchange) : serve(name, ...exchange));
  const { status, stderr } = await fetchSets('autobahn', 'tum-idp');
  expect(status).toBe(1);
  expect(stderr).toMatch(message);
  expect(stderr).toContain('not fetched: autobahn;');
  expect(readdirSync(at('out')).sort()).toEqual(['datasets-lock.json', 'tum-idp']);
  expect(below('cache')).toEqual(['large_file_download_5parallel.csv']);
  answer = serve;
  expect(await fetchSets('autobahn')).toMatchObject({ status: 0 });
  expect(below('out')).toContain('dl-20240419T120020.csv');
});

test.each<[string, number, (response: ServerResponse) => void]>([
  ['a broken connection', 1, (response) => response.destroy()],
  ['Ctrl-C', 130, () => interrupt()],
])('%s leaves nothing half-written; the same command continues', async (_case, expected, then) => {
  answer = (name, ...exchange) =>
    name === IDP ? serveBeginning(exchange[1], name, () => then(exchange[1])) : serve(name, ...exchange);
  expect(await fetchSets('tum-idp')).toMatchObject({ status: expected });
  expect([...below('out'), ...below('cache')]).toEqual([]);
  answer = serve;
  expect(await fetchSets('tum-idp')).toMatchObject({ status: 0 });
  expect(below('out')).toHaveLength(5);
});

test.each([
  ['known to the recipe', 'mmsys24', `${MMSYS24}/isl-${IPERF}`, /expected SHA-256 629aa8/],
  ['of an earlier fetch', 'tum-idp', IDP, /expected SHA-256 of datasets-lock.json/],
])('a wrong checksum, %s, writes nothing and forgets the file', async (_case, set, file, message) => {
  if (set === 'tum-idp') {
    expect(await fetchSets(set)).toMatchObject({ status: 0 });
    rmSync(at('out', set), { recursive: true });
    rmSync(at('cache'), { recursive: true });
  }
  files[file] = set === 'mmsys24' ? iperfReport([1]) : `${files[file]}\n`;
  const { status, stderr } = await fetchSets(set);
  expect(status).toBe(1);
  expect(stderr).toMatch(message);
  expect(existsSync(at('out', set))).toBe(false);
  expect(below('cache').filter((name) => name !== 'tree.json')).toEqual([]);
});

// Only Linux has a device that is always full.
(existsSync('/dev/full') ? test : test.skip)('a full disk under --out leaves no trace', async () => {
  mkdirSync(at('out/tum-idp'), { recursive: true });
  symlinkSync('/dev/full', at(`out/tum-idp/.wget5-01.csv.${process.pid}.tmp`));
  const { status, stderr } = await fetchSets('tum-idp');
  expect(status).toBe(1);
  expect(stderr).toMatch(/wget5-01.csv: expected a file that can be written, got ENOSPC/);
  expect(readdirSync(at('out'), { recursive: true })).toEqual(['tum-idp']);
});

test('--from reads what was downloaded by hand, also without a list of the files', async () => {
  const { [`${STARNET}/tree.json`]: _, ...byHand } = files;
  for (const [name, content] of Object.entries(byHand)) put(at('hand', name), content);
  const one = `${MMSYS24}/no-isl-iperf3-2m-2023-09-21-06-10-00.json`;
  put(at('hand', one), iperfReport([1, 2]));
  const sets = ['starnet', 'autobahn', 'mmsys24', 'road'];
  const { status, stderr } = await datasets('fetch', '--from', at('hand'), '--out', at('out'), ...sets);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^road: --from: expected a folder sys-uos__Starlink-on-the-Road in it, got none$/m);
  expect(stderr).toMatch(/^mmsys24: /m);
  expect(requests).toEqual([]);
  const written = ['dl-20240419T120020.csv', 'osn_recording_046_window_000.csv'];
  expect(below('out').filter((name) => name.endsWith('.csv'))).toEqual(written);
});
