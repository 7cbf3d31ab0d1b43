/**
 * The steps of `npm run reproduce`. A step has
 * - `does`, and how long and how large it is on two idle cores: `minutes`, `gigabytes` of results
 * - `recordings`: folders and files of the data folder ($DATA) that it plays; $TRACES has a `--traces` for each that is
 *   there. Sets that `leo-abr datasets` cannot fetch may be missing.
 * - `needs`: `python` (trains models), `browser` (plays in real time, and trains models) or `cargo` (builds transport/);
 *   absent: only the simulator
 * - `commands` for bash, run from the checkout; results go to $OUT, where they may find some of an interrupted run
 * - `tables` of docs/ that it makes: see `tableDifferences`
 */

const SHIPPED = '$(for t in replay/traces/*.csv; do case $t in *-live-*) ;; *) echo --traces $t;; esac; done)';
const TRAIN = 'npx leo-abr train --data $DATA/traces --folds $OUT/folds';
const BROWSER = 'npx leo-abr bench --scenario uhd-8 --fold-models $OUT/folds/folds.json --resume';
const SIMULATOR =
  'npx leo-abr simulate --algorithms mpc-d,mpc-l,mpc-o --scenario uhd-8 --fold-models $OUT/folds/folds.json --out $OUT/simulator.json';
/** `--traces` for recordings by name. */
const traces = (names) => `$(printf -- "--traces $DATA/traces/%s.csv " ${names})`;
const ALL_SETS = ['autobahn', 'mmsys24', 'road', 'sat-vs-cell', 'starnet', 'starnet-sample', 'tum-idp'].map(
  (set) => `traces/${set}`,
);
const ALL_TOGETHER = 'all data sets together';

const household = (scenario, minutes) => ({
  does: `ten households and single players in ${scenario}, on 72 links`,
  minutes,
  gigabytes: 0.1,
  recordings: ['traces/tum-idp', 'traces/starnet', 'traces/sat-vs-cell'],
  commands: [
    `for h in alone two four mixed late-joiner download; do
  [ $h = alone ] && household= || household="--household $h"
  npx leo-abr simulate ${SHIPPED} $TRACES --scenario ${scenario} $household --algorithms mpc-l,mpc-d,bola,throughput --starts at:0 --seed 1 --out $OUT/$h.json
  npx leo-abr report $OUT/$h.json --out $OUT/$h
done`,
  ],
  tables: [
    {
      ...{ doc: 'docs/households.md', heading: `\`${scenario}\``, where: { household: 'alone' } },
      ...{ report: 'alone/report.md', caption: `${ALL_TOGETHER}: each algorithm`, row: { algorithm: '{given}' } },
      columns: { 'QoE, sum': 'QoE, mean', 'stalls s, worst 5 %': ['stalls, s', 'worst 5 %, s'] },
    },
    ...['two', 'four', 'mixed', 'late-joiner', 'download'].map((name) => ({
      ...{ doc: 'docs/households.md', heading: `\`${scenario}\``, where: { household: name } },
      ...{ report: `${name}/report.md`, caption: `${ALL_TOGETHER}.`, row: { given: '{given}' } },
      columns: {
        'QoE, sum': 'QoE, sum',
        least: 'least',
        'stalls s, worst 5 %': ['stalls, s', 'worst 5 %, s'],
        'unfairness of QoE, bitrate': ['unfairness, QoE', 'bitrate'],
        instability: 'instability',
        utilisation: 'utilisation',
        'sum against `mpc-d`': 'QoE, sum#2',
        'least#2': 'least#2',
      },
    })),
  ],
});

const live = (target, minutes, variants = '') => ({
  does: `live streams with a target of ${target} s, on 42 recordings`,
  minutes,
  gigabytes: 0.1,
  recordings: ['cau-seoul', 'emulator-lagos', 'leocc', 'leocc-digitised', 'uvic-zenodo'].map(
    (set) => `subsecond/${set}`,
  ),
  commands: [
    `npx leo-abr simulate $TRACES --algorithms mpc-d,throughput,mpc-l${variants} --scenario live-hd-${target} --starts every:61 --out $OUT/live.json
npx leo-abr report $OUT/live.json --out $OUT/live`,
  ],
  tables: [
    {
      ...{ doc: 'docs/live.md', heading: 'Where it stands', where: { target: `${target} s` } },
      report: 'live/report.md',
      caption: '{recordings}: each algorithm',
      acrossSets: ALL_TOGETHER,
      names: {
        Seoul: 'cau-seoul',
        Lagos: 'emulator-lagos',
        'LeoCC, digitised': 'leocc-digitised',
        all: ALL_TOGETHER,
      },
      row: { algorithm: '{algorithm}' },
      columns: {
        'Mbit/s': 'bitrate, Mbit/s',
        'stalls per minute': 'stalls / min',
        'stalled per minute': 'stall s / min',
        'latency: mean, p95': ['latency, s', 'p95, s'],
        off: 'not at 1x',
        QoE: 'QoE',
      },
    },
  ],
});

/** The tables of the differences from mpc-d in a report of docs/results. */
const differencesIn = (folder, datasets) =>
  datasets.map((dataset) => ({
    ...{ doc: `docs/results/${folder}/report.md`, heading: `Against mpc-d: ${dataset}`, within: 'interval' },
    ...{ report: 'report/report.md', caption: `${dataset}: difference`, acrossSets: ALL_TOGETHER },
    row: { algorithm: '{algorithm}' },
    columns: { QoE: 'QoE', 'from bitrate': 'from bitrate', 'from stalls': 'from stalls' },
  }));

const SWEEP = 'sweep="npx leo-abr transport sweep $TRACES --scenario hd-16"';
/** Impairments of docs/transport.md beside `starlink`. */
const LOSSY = 'loss=0.05,jitter-ms=60,queue-kb=100';
const CONDITIONS = [
  ...['loss=0.02', 'loss=0.05', 'loss=0.05,queue-kb=100', 'loss=0.05,jitter-ms=60'],
  ...['loss=0.02,jitter-ms=60,queue-kb=100', 'loss=0.05,burst-ms=5'],
];

const TEN =
  '{starnet/{vic_recording_107_window_000,us_recording_196_window_014,osn_recording_046_window_000},tum-idp/wget5-{02,07},sat-vs-cell/{mob-tcp-dl-003,mob-tcp-dl-015,mob-udp-dl-005,roam-udp-dl-000},mmsys24/isl-iperf3-0.1s-2m-2023-09-21-06-10-00}';
const SLOW =
  'sat-vs-cell/{mob-tcp-dl-{000,003,004,012,013,014,016,024,025,026},roam-tcp-dl-{005,013,014},roam-udp-dl-005}';
const MIDDLE =
  '{sat-vs-cell/{mob-tcp-dl-{002,010,011,015},mob-udp-dl-{002,005,007,028,033,038},roam-udp-dl-{000,001,007}},starnet/{osn_recording_118_window_000,us_recording_225_window_004,vic_recording_111_window_000}}';
const FAST =
  '{sat-vs-cell/{mob-tcp-dl-006,mob-udp-dl-{000,003,006,008,021,022,023,024,025,026,027,029,030,032}},starnet/{osn_recording_046_window_000,osn_recording_093_window_000,us_recording_196_window_014,us_recording_203_window_004,vic_recording_107_window_000,vic_recording_122_window_000},tum-idp/wget5-{00,01,02,03,04,05,06,07,08,09,10,11,12}}';
const MINUTE_MIDDLE =
  '{autobahn/dl-{001,002,025,030,031,040,045,048},mmsys24/{isl-iperf3-0.1s-2m-2023-09-21-06-10-00,no-isl-iperf3-2m-2023-09-21-06-10-00}}';
const MINUTE_FAST =
  'autobahn/dl-{003,004,005,006,007,008,009,010,011,012,013,014,015,016,017,018,019,020,021,022,023,024,026,027,028,029,032,033,034,035,036,037,038,041,042,043,044,046,047,049,050,051}';
const CHICAGO = '$(ls -d $DATA/traces/starnet-sample 2>&- | sed "s/^/--traces /")';

export const STEPS = {
  'live-1': live(1, 8, ',mpc-l:no-handover,mpc-l:auto-target,mpc-l:risk-0.25'),
  'live-2': live(2, 3),
  'live-3': live(3, 3),
  'live-5': live(5, 3),
  'households-hd-16': household('hd-16', 13),
  'households-uhd-8': household('uhd-8', 13),
  'mpc-l': {
    does: 'MPC-L against MPC-D and the oracle in seven scenarios, with a model for each recording group',
    ...{ needs: 'python', minutes: 90, gigabytes: 0.5 },
    recordings: ALL_SETS,
    commands: [
      TRAIN,
      `T=$DATA/traces
for s in uhd-8 uhd-16 uhd-30 hd-16 hd-30 pensieve-60 small-6; do
  npx leo-abr simulate --traces $T/starnet --traces $T/sat-vs-cell --traces $T/tum-idp --traces $T/autobahn \\
    --algorithms mpc-d,mpc-l,mpc-o,mpc-d:abandon,bola,throughput --scenario $s --starts every:61 --fold-models $OUT/folds/folds.json --out $OUT/main-$s.json
done
npm run --silent tables -- $OUT/main-*.json > $OUT/tables.md`,
    ],
    tables: [
      {
        ...{ doc: 'docs/mpc-l.md', heading: 'Results', within: 'interval', report: 'tables.md' },
        row: { scenario: '{scenario}', recordings: '{recordings}', algorithm: 'mpc-l' },
        columns: { 'mpc-l / mpc-d': 'ratio', 'gap closed': 'gap closed', difference: 'against mpc-d' },
      },
    ],
  },
  'uhd-8-whole': {
    does: 'the 64 recordings of more than three minutes whole in Chromium, and in the simulator',
    ...{ needs: 'browser', minutes: 200, gigabytes: 1 },
    recordings: ALL_SETS,
    commands: [
      TRAIN,
      `play="${BROWSER} --algorithms mpc-d,mpc-l,mpc-o,dynamic --late-share 0.05"
$play --contexts 8 --out $OUT/slow.json ${traces(SLOW)}
$play --contexts 5 --out $OUT/mid.json ${traces(MIDDLE)}
$play --contexts 5 --out $OUT/fast.json ${traces(FAST)}`,
      `${SIMULATOR} --traces $DATA/traces/sat-vs-cell --traces $DATA/traces/starnet --traces $DATA/traces/tum-idp
npx leo-abr report $OUT/slow.json $OUT/mid.json $OUT/fast.json $OUT/simulator.json --title "uhd-8 on 64 recordings: Chromium and simulator" --out $OUT/report`,
    ],
    tables: differencesIn('uhd-8-whole', ['sat-vs-cell', 'starnet', 'tum-idp', ALL_TOGETHER]),
  },
  'uhd-8-minute': {
    does: 'the 53 recordings of one or two minutes in Chromium, and in the simulator',
    ...{ needs: 'browser', minutes: 90, gigabytes: 1 },
    recordings: ALL_SETS,
    commands: [
      TRAIN,
      `play="${BROWSER} --algorithms mpc-d,mpc-l,mpc-o,dynamic --segments 24"
$play --contexts 5 --out $OUT/mid.json ${traces(MINUTE_MIDDLE)}
$play --contexts 4 --out $OUT/fast.json ${traces(MINUTE_FAST)} ${CHICAGO}`,
      `${SIMULATOR} --segments 24 --traces $DATA/traces/autobahn --traces $DATA/traces/mmsys24 ${CHICAGO}
npx leo-abr report $OUT/mid.json $OUT/fast.json $OUT/simulator.json --title "uhd-8 on 53 recordings of a minute or two: Chromium and simulator" --out $OUT/report`,
    ],
    tables: differencesIn('uhd-8-minute', ['autobahn', ALL_TOGETHER]),
  },
  players: {
    does: 'MPC-L in dash.js, hls.js and Shaka Player, and their own ABR, on ten recordings',
    ...{ needs: 'browser', minutes: 35, gigabytes: 0.5 },
    recordings: ['traces/starnet', 'traces/tum-idp', 'traces/sat-vs-cell', 'traces/mmsys24'],
    commands: [
      `npx leo-abr bench ${traces(TEN)} --algorithms mpc-l,mpc-l@hls,mpc-l@shaka,hls@hls,shaka@shaka --baseline mpc-l \\
  --scenario hd-16 --segments 24 --resume --out $OUT/players.json
npx leo-abr report $OUT/players.json --out $OUT/report`,
    ],
    tables: [
      {
        ...{ doc: 'docs/benchmark.md', heading: 'The same controller in three players', within: 'interval' },
        ...{ where: { links: 'ten' }, report: 'report/report.md', caption: `${ALL_TOGETHER}: difference` },
        ...{ row: { algorithm: '{algorithm}' }, columns: { 'against `mpc-l` in dash.js': 'QoE' } },
      },
    ],
  },
  'households-browser': {
    does: 'four players behind one dish in Chromium, MPC-L against Dynamic, on ten recordings',
    ...{ needs: 'browser', minutes: 30, gigabytes: 0.5 },
    recordings: ['traces/starnet', 'traces/tum-idp', 'traces/sat-vs-cell', 'traces/mmsys24'],
    commands: [
      `npx leo-abr bench ${traces(TEN)} --household four --algorithms mpc-l,dynamic --baseline dynamic --scenario hd-16 \\
  --segments 24 --contexts 8 --late-share 0.25 --resume --out $OUT/four.json
npx leo-abr report $OUT/four.json --out $OUT/report`,
    ],
    tables: [
      {
        ...{ doc: 'docs/households.md', heading: "In a browser, against dash.js's Dynamic", within: 'interval' },
        ...{ report: 'report/report.md', caption: `${ALL_TOGETHER}.`, row: { given: '{given}' } },
        columns: { 'sum against `dynamic`': 'QoE, sum#2', 'least#2': 'least#2' },
      },
    ],
  },
  transport: {
    does: "congestion controls over HTTP/3 and BBRv2's parameters, simulated on 48 recordings",
    ...{ needs: 'cargo', minutes: 30, gigabytes: 0.1 },
    recordings: [
      'subsecond/cau-seoul',
      'subsecond/emulator-lagos',
      'subsecond/leocc',
      'subsecond/leocc-digitised',
    ].concat('traces/starnet'),
    commands: [
      `${SWEEP}
b=bbr2:probe-rtt
$sweep --out $OUT/starlink.json
$sweep --impairment starlink,${LOSSY} --flows cubic --flows reno --flows bbr2 --flows $b=4000,loss=0.02 --flows $b=4000,loss=0.04 \\
  --flows $b=4000,loss=0.08 --flows $b=4000,loss=0.16 --flows $b=1000,loss=0.08 --flows $b=2000,loss=0.08 \\
  --flows $b=10000,loss=0.08 --flows 8*cubic+8*bbr2 --flows 8*cubic+8*$b=4000,loss=0.08 --out $OUT/${LOSSY}.json
for i in ${CONDITIONS.join(' ')}; do
  $sweep --impairment starlink,$i --flows bbr2 --flows $b=4000,loss=0.08 --out $OUT/$i.json
done
for i in starlink ${LOSSY} ${CONDITIONS.join(' ')}; do npx leo-abr transport report $OUT/$i.json --out $OUT/$i; done`,
    ],
    tables: [
      {
        ...{ doc: 'docs/transport.md', heading: 'What the congestion controls bring' },
        ...{ report: 'starlink/report.md', acrossSets: '', row: { setting: '{setting}' } },
        columns: {
          'throughput, Mbit/s': 'throughput, Mbit/s',
          'p95 RTT, ms': 'p95 RTT, ms',
          'throughput / `bbr2`': 'throughput / default',
          'p95 RTT / `bbr2`': 'p95 RTT / default',
        },
      },
      {
        ...{ doc: 'docs/transport.md', heading: "T3P's two parameters" },
        ...{ report: '{impairment}/report.md', acrossSets: '', row: { setting: 'bbr2:probe-rtt=4000,loss=0.08' } },
        columns: { 'throughput / `bbr2`': 'throughput / default', 'p95 RTT / `bbr2`': 'p95 RTT / default' },
      },
    ],
  },
};
