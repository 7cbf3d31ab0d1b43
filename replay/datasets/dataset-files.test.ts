/** Each recipe's conversion, of files made by hand in the form of its files. */

import { expect, test } from '@jest/globals';
import { InputError } from '../../abr/errors.ts';
import { filesOf, isFileOf, recordingsIn } from './dataset-files.ts';
import { RECIPES } from './recipes.ts';
import * as files from './source-files.fixture.ts';
import { unzipFile } from './unzip.ts';

/** What a recipe makes of a file: per recording its name, the rows of its CSV, its sidecar. */
function converted(recipeName: string, path: string, content: string | Uint8Array) {
  const recipe = RECIPES.find(({ name }) => name === recipeName)!;
  const from = recipe.sources.find((one) => isFileOf(one, path))!;
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return recordingsIn(recipe, from, path, bytes).map((recording) => {
    const { name } = recording;
    const made = Object.fromEntries(filesOf(recipe, from, path, recording));
    expect(Object.keys(made)).toEqual([`${name}.json`, `${name}.csv`]);
    const rows = made[`${name}.csv`]!.trim().split('\n').slice(1);
    return { name, rows, sidecar: JSON.parse(made[`${name}.json`]!) };
  });
}

const lengthsOf = (recordings: readonly { name: string; rows: string[] }[]) =>
  recordings.map(({ name, rows }) => `${name} ${rows.length}`);

const PHONE = '3-Thrpt-Comp/UDP/Downlink/mob_all.csv';

test('sat-vs-cell: CDT is UTC-5; gaps separate; short ones are left out', () => {
  const recordings = converted('sat-vs-cell', PHONE, files.PHONE_ROWS);
  expect(lengthsOf(recordings)).toEqual(['mob-udp-dl-20230404T170000 200', 'mob-udp-dl-20230405T170000 210']);
  const { rows, sidecar } = recordings[0]!;
  expect(rows.slice(0, 2)).toEqual(['0,100.5,,', '1,101.5,,']);
  const source = { repo: 'Starlink-Project/Satellite-vs-Cellular', path: PHONE };
  expect(sidecar).toMatchObject({ dataset: 'sat-vs-cell', rate_basis: 'saturating UDP: near the capacity', source });
  const clock = { start_utc: '2023-04-04T17:00:00.000Z', epoch_phase_s: 0 };
  expect(sidecar).toMatchObject({ recording_group: 'sat-vs-cell-2023-04-04', ...clock });
  expect(sidecar).not.toHaveProperty('handover_phase_s');
});

test('sat-vs-cell: a recording with an outage of 20 s is left out', () => {
  const rows = files.PHONE_ROWS.split('\n').map((row, i) =>
    i > 20 && i <= 40 ? row.replace(/,\d+\.5,/, ',0.0,') : row,
  );
  const recordings = converted('sat-vs-cell', '3-Thrpt-Comp/TCP/Downlink/rm_all_area.csv', rows.join('\n'));
  expect(recordings.map(({ name }) => name)).toEqual(['roam-tcp-dl-20230405T170000']);
});

test('autobahn: minutes in an archive, stamps within a second', () => {
  const recordings = converted('autobahn', 'Data/Autobahn/throughput.zip', files.CAR_ZIP);
  expect(lengthsOf(recordings)).toEqual(['dl-20240419T120020 60']);
  expect(recordings[0]!.rows.slice(0, 2)).toEqual(['0,200.123,,', '1,201.123,,']);
  expect(recordings[0]!.sidecar).toMatchObject({ recording_group: 'autobahn-2024-04-19', epoch_phase_s: 20 });
});

test('road: a recording per day and plan, with gaps, without UTC', () => {
  const recordings = converted('road', 'data/iperf.csv', files.ROAD_ROWS);
  const place = { dataset: 'road-15s', recording_group: 'road-osnabrueck-20240111' };
  const sidecar = { ...place, epoch_phase_s: 39, start_logged: '2024-01-11T10:06:39' };
  expect(recordings).toMatchObject([
    { name: '20240111-prio1', rows: ['0,101.25,,', '1,67.5,,', '71,30,,'], sidecar },
    { name: '20240112-prio0', rows: ['0,12,,'], sidecar: { epoch_phase_s: 5 } },
  ]);
  expect(recordings[0]!.sidecar).not.toHaveProperty('start_utc');
});

test('tum-idp: bits since the last row on a grid of seconds, RTT of their middles, windows of 20 min', () => {
  const recordings = converted('tum-idp', 'data/large_file_download_5parallel.csv', files.IDP_ROWS);
  expect(lengthsOf(recordings)).toEqual(['wget5-00 1200', 'wget5-01 304']);
  const { rows, sidecar } = recordings[0]!;
  // The middle of the first second is 1 s after the first row: 4/5 of the way from 30 to 40 ms.
  expect(rows[0]).toBe('0,100,38,');
  expect(rows.every((row) => row.split(',')[1] === '100')).toBe(true);
  expect(sidecar).toMatchObject({ recording_group: 'tum-munich-2023-07', start_utc: '2023-07-05T10:00:01.000Z' });
});

test('tum-idp: seconds within a spacing of more than 3 s are unknown', () => {
  const lines = files.IDP_ROWS.split('\n');
  lines.splice(10, 3);
  const { rows } = converted('tum-idp', 'data/large_file_download_5parallel.csv', lines.join('\n'))[0]!;
  expect(rows.map((row) => row.split(',')[1]).filter((rate) => rate !== '100')).toEqual(['', '', '', '', '', '']);
});

test('starnet: 300 s of a trace; place and phase of the recording', () => {
  const path = 'data/starlink_holdout30/any/folder/us_recording_203_window_004.trace';
  const recordings = converted('starnet', path, files.TIMED_LINES);
  expect(lengthsOf(recordings)).toEqual(['us_recording_203_window_004 300']);
  const { rows, sidecar } = recordings[0]!;
  expect([rows[0], rows[299]]).toEqual(['0,100,,', '299,114,,']);
  expect(sidecar).toMatchObject({ recording_group: 'starnet-us', epoch_phase_s: 31, source: { path } });
});

test('mmsys24: intervals of iperf3; none of an uplink', () => {
  const path = 'src/throughput/downlink/no-isl-iperf3-2m-2023-09-21-06-10-00.json';
  const location = 'Victoria BC (bent pipe, Seattle PoP)';
  const sidecar = { recording_group: 'mmsys24-no', epoch_phase_s: 3, location };
  const made = { name: 'no-isl-iperf3-2m-2023-09-21-06-10-00', rows: ['0,1.5,,', '0.1,20.123,,'], sidecar };
  expect(converted('mmsys24', path, files.iperfReport([1.5, 20.12345]))).toMatchObject([made]);
  expect(converted('mmsys24', path, files.iperfReport([1], 0))).toEqual([]);
});

test('cau-seoul: a counter on a grid of 0.1 s, without the idle ends', () => {
  const path = 'logs/20260403_133033_tcp_cubic_downlink_test18/iface_stats.log';
  const { name, rows, sidecar } = converted('cau-seoul', path, files.NIC_LOG)[0]!;
  expect(name).toBe('dl-20260403_133033-cubic');
  const rates = rows.map((row) => Number(row.split(',')[1]));
  expect(rates).toEqual([60, 80, 80, 80, 80, 20, 0, 10, 40, 40, 10]);
  const clock = { start_utc: '2026-04-03T04:14:27.100Z', epoch_phase_s: 27.1, handover_phase_s: 14.9 };
  const transport = 'tcp cubic x1 (iperf3)';
  expect(sidecar).toMatchObject({ recording_group: 'cau-seoul-2026-04-03', ...clock, transport });
});

test('nuwins: TCP and UDP with loss; the totals do not count; the earliest possible start', () => {
  const folder = 'datasets/maine_starlink_trip/raw/starlink/20240527/111234471/';
  const tcpClock = { recording_group: 'nuwins-maine-20240527', start_utc: '2024-05-27T15:04:34.990Z' };
  expect(converted('nuwins-maine-0.5s', `${folder}tcp_downlink_110434704.out`, files.NUTTCP_LOG)).toMatchObject([
    { name: 'tcp-20240527T110434', rows: ['0,53.474,,', '0.5,144.668,,'], sidecar: tcpClock },
  ]);
  const udpClock = { start_utc: '2024-05-27T15:13:00.350Z', epoch_phase_s: 0.35, handover_phase_s: 11.15 };
  expect(converted('nuwins-maine-0.5s', `${folder}udp_downlink_111237525.out`, files.IPERF_LOG)).toMatchObject([
    { name: 'udp-20240527T111237', rows: ['0,294,,0.25', '0.5,0.901,,'], sidecar: udpClock },
  ]);
});

test('emulator-lagos: rates 1.5 s later than the delays', () => {
  const { name, rows, sidecar } = converted('emulator-lagos', 'lagos.csv', files.EPOCH_ROWS)[0]!;
  const some = [0, 14, 15, 25].map((row) => rows[row]);
  expect([name, rows.length]).toEqual(['lagos-00', 600]);
  expect(some).toEqual(['0,,170.5,0.1', '1.4,,170.5,0', '1.5,20,170.5,0', '2.5,21,170.5,0']);
  expect(sidecar).toMatchObject({ recording_group: 'emulator-lagos', epoch_phase_s: 0, handover_phase_s: 12 });
});

test('leocc and uvic-zenodo: the means of two rows', () => {
  const rows = ['0,15,30.5,', '0.1,5.5,40.5,'];
  const leocc = { name: 'A-001', rows, sidecar: { recording_group: 'leocc-A', handover_phase_s: 0.1 } };
  expect(converted('leocc', 'traces/leocc/q00_A_downlink_001.csv', files.HALF_STEPS)).toMatchObject([leocc]);
  const clock = { start_utc: '2023-09-13T00:40:00.000Z', handover_phase_s: 11.4 };
  const sidecar = { recording_group: 'uvic-zenodo-20230913', ...clock };
  const uvic = converted('uvic-zenodo', 'traces/zhao_zenodo23/q00_20230913T004000Z.csv', files.HALF_STEPS);
  expect(uvic).toMatchObject([{ name: '20230913T004000Z', rows, sidecar }]);
});

const HOLDOUT = 'data/starlink_holdout30';
const MMSYS24 = 'src/throughput/downlink';
const ROAD = ['road', 'data/iperf.csv'] as const;

test.each([
  [...ROAD, '<html>', /^data\/iperf.csv:1: expected a header with timestamp_start/],
  [...ROAD, files.ROAD_ROWS.replace('67.5', 'x'), /^data\/iperf.csv:3: download_mbps: expected a number/],
  [...ROAD, files.ROAD_ROWS.replace('\n2024-01-11 10:06:40', '\nnoon'), /^data\/iperf.csv:3: timestamp_start/],
  ['starnet', `${HOLDOUT}/osn_recording_046_window_000.trace`, '0 5\n1', /000.trace:2: expected a time in s/],
  ['autobahn', 'Data/Autobahn/throughput.zip', 'PK', /throughput.zip: expected a zip archive/],
  ['mmsys24', `${MMSYS24}/isl-iperf3-0.1s-2m-2023-09-21-06-10-00.json`, '{}', /start.timestamp.timesecs/],
  ['cau-seoul', 'logs/20260411_155636_tcp_cubic_downlink_3/iface_stats.log', '1775189667.5', /1 times, 0 counters/],
])('%s %s: a file of another form is an error with its place', (recipe, path, content, message) => {
  expect(() => converted(recipe, path, content)).toThrow(InputError);
  expect(() => converted(recipe, path, content)).toThrow(message);
});

test('an archive without the file is an error with its place', () => {
  const archive = { path: 'a.zip', bytes: files.zipOf('other.csv', 'x') };
  expect(() => unzipFile(archive, 'throughput.csv')).toThrow(/^a.zip: throughput.csv: expected a file/);
  expect(unzipFile(archive, 'other.csv')).toBe('x');
});

test('recipes have distinct names and pins', () => {
  expect(new Set(RECIPES.map(({ name }) => name)).size).toBe(RECIPES.length);
  for (const { commit } of RECIPES.flatMap(({ sources }) => sources)) expect(commit).toMatch(/^[0-9a-f]{40}$/);
});
