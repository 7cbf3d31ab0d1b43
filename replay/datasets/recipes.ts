/** The public data sets that can be fetched: where their files are, what they mean, how they become traces. Data only. */

import { idpRows, roadRuns, secondRows, timedLines } from './per-second.ts';
import { pingLines, pingMedians } from './pings.ts';
import { type Converter, namedByStart } from './recording.ts';
import { halfStepRows, iperfJson, joinedEpochs, nicCounter, packetTimes, stampedOutput } from './sub-second.ts';

export interface Source {
  /** `owner/repository` on GitHub, or what names the folder of files unpacked by hand. */
  repository: string;
  /** Commit that pins the files; none for files that only `--from` reads. */
  commit?: string;
  /** What to download and unpack by hand, for a source without a commit. */
  byHand?: string;
  /** Path of a file, or a pattern for the paths of several. */
  path: string | RegExp;
  /** Name of the recording; with a pattern, a replacement such as `$1-$2`. Default: the file's name without ending. */
  name?: string;
  sha256?: string;
  /** Fields of the sidecar that only this source has. */
  sidecar?: Readonly<Record<string, string>>;
}

export interface Recipe {
  name: string;
  /** What it is, for lists. */
  about: string;
  licence: string;
  /** What to cite beside the repository. */
  cite?: string;
  sources: readonly Source[];
  convert: Converter;
  /** Recording group of a recording: constant, or a replacement for what `groupFrom` finds in its name. */
  group?: string;
  groupFrom?: RegExp;
  /** The dips of handovers: their second (UTC) modulo 15, or `deepest`: found in the recording. Default: not stated. */
  handoverSecond?: number | 'deepest';
  /** Location, meaning of the rates, and other fields of the sidecar. */
  sidecar: Readonly<Record<string, string | number | boolean>>;
}

const SAT_VS_CELL = {
  repository: 'Starlink-Project/Satellite-vs-Cellular',
  commit: '79f9412cf6888de1b44a87576c308a9f26539169',
};
const MOBILITY_PLAN = 'Mobility (flat high performance)';
const MMSYS24 = {
  repository: 'clarkzjw/mmsys24-starlink-livestreaming-data',
  commit: 'bcf33b9a75680847b6fd53c3c14cfead4cce8e81',
};
const MMSYS24_LICENCE = 'CC BY-SA 4.0 (LICENSE)';
const LEO_AWARE = {
  repository: 'Pitchfork-and-Torch/leo-aware-transport',
  commit: '58b6e28021c22e1304e1fa0ca70e974fd7313168',
};
const ZENODO = 'Zenodo, https://doi.org/10.5281/zenodo.10020034';
const NO_LICENCE = 'none stated: ask the authors before you publish anything made of it';

/** Day of a name with a time such as `20240419T162320` or `20260403_131427`. */
const DAY = /^.*?(\d{4})(\d\d)(\d\d)[T_]\d+.*$/;

/** A measurement of the `cau-seoul` set. Its authors moved the logs, so commits differ. */
function seoul(commit: string, folder: string, transport: string, sha256?: string): Source {
  const [, time] = /^(\d+_\d+)_/.exec(folder)!;
  return {
    repository: 'dlawogud000/starlink-TCP',
    commit,
    path: `logs/${folder}/iface_stats.log`,
    name: `dl-${time}-${transport.replace(/^tcp /, '').replace(/ x1$/, '').replace(' ', '')}`,
    ...(sha256 && { sha256 }),
    sidecar: { transport: `${transport} (iperf3)` },
  };
}

export const RECIPES: readonly Recipe[] = [
  {
    name: 'autobahn',
    about: 'driving, Germany, 2024-04, 50 x 1 min of UDP at 1 Hz',
    licence: 'CC BY-SA 4.0 (README)',
    sources: [
      {
        repository: 'sys-uos/Starlink-on-the-Autobahn',
        commit: '2eec78c93b65f61970f91e1541d603453f3dce4b',
        path: 'Data/Autobahn/throughput.zip',
        name: 'dl',
      },
    ],
    convert: secondRows({
      zipped: 'throughput.csv',
      time: 'timestamp_start_dl',
      rate: 'download',
      utcOffsetHours: 0,
      minSeconds: 60,
    }),
    group: 'autobahn-2024-04-19',
    sidecar: {
      location: 'A30/A31 Autobahn Osnabrueck-Bunde, DE',
      mobility: 'vehicle',
      transport: 'udp iperf3 (simultaneous DL+UL)',
      rate_basis: 'received UDP: near the capacity',
    },
  },
  {
    name: 'road',
    about: 'driving and standing, Osnabrueck, 2024, independent runs of 15 s of UDP at 1 Hz',
    licence: 'CC BY-SA 4.0 (README)',
    sources: [
      {
        repository: 'sys-uos/Starlink-on-the-Road',
        commit: '6be9959c3e3ae9ee43483e8e4775fe3402771f9b',
        path: 'data/iperf.csv',
      },
    ],
    convert: roadRuns,
    group: 'road-osnabrueck-$1',
    groupFrom: /^(\d{8})-.*$/,
    sidecar: {
      dataset: 'road-15s',
      location: 'in/around Osnabrueck, DE',
      transport: 'udp iperf3 (simultaneous DL+UL)',
      rate_basis: 'received UDP: near the capacity',
      tz_note: 'the source does not state the time zone; seconds of the minute are usable',
      gap_note: 'independent runs of 15 s with gaps',
    },
  },
  {
    name: 'sat-vs-cell',
    about: 'driving, US Midwest, 2023-04, TCP and saturating UDP at 1 Hz, plans Mobility and Roam',
    licence: NO_LICENCE,
    sources: [
      {
        ...SAT_VS_CELL,
        path: '3-Thrpt-Comp/TCP/Downlink/mob_all_area.csv',
        name: 'mob-tcp-dl',
        sidecar: { plan: MOBILITY_PLAN, transport: 'tcp', rate_basis: 'TCP goodput' },
      },
      {
        ...SAT_VS_CELL,
        path: '3-Thrpt-Comp/UDP/Downlink/mob_all.csv',
        name: 'mob-udp-dl',
        sidecar: { plan: MOBILITY_PLAN, transport: 'udp', rate_basis: 'saturating UDP: near the capacity' },
      },
      {
        ...SAT_VS_CELL,
        path: '3-Thrpt-Comp/TCP/Downlink/rm_all_area.csv',
        name: 'roam-tcp-dl',
        sidecar: { plan: 'Roam', transport: 'tcp', rate_basis: 'TCP goodput' },
      },
      {
        ...SAT_VS_CELL,
        path: '3-Thrpt-Comp/UDP/Downlink/rm_all.csv',
        name: 'roam-udp-dl',
        sidecar: { plan: 'Roam', transport: 'udp', rate_basis: 'saturating UDP: near the capacity' },
      },
    ],
    // Stamps are Central Daylight Time. The outages of longer ones are not known to be the link's.
    convert: secondRows({
      time: 'time',
      rate: 'throughput',
      utcOffsetHours: -5,
      minSeconds: 200,
      maxOutageSeconds: 19,
    }),
    group: 'sat-vs-cell-$1-$2-$3',
    groupFrom: DAY,
    sidecar: {
      location: 'driving, Minnesota/US Midwest',
      mobility: 'vehicle',
      clock_note: 'phone clock, stamps of 1 s; CDT converted to UTC',
    },
  },
  {
    name: 'starnet',
    about: 'stationary, Chicago, Osnabrueck and Victoria, 9 x 300 s of iperf3 at 1 Hz',
    licence: 'Apache-2.0 (SafeSABR-dashjs-emulation); of the upstream StarNet: none stated',
    sources: [
      {
        repository: 'luopeng69131/SafeSABR-dashjs-emulation',
        commit: 'c0b2ac48f2c96f3531f055b83b82f4a9b94156f2',
        path: /^data\/starlink_holdout30\/(?:.*\/)?(?:osn_recording_(?:046|093|118)_window_000|us_recording_(?:196_window_014|203_window_004|225_window_004)|vic_recording_(?:107|111|122)_window_000)\.trace$/,
      },
    ],
    convert: timedLines(300, {
      osn_recording_046_window_000: 27,
      osn_recording_093_window_000: 27,
      osn_recording_118_window_000: 27,
      us_recording_196_window_014: 28,
      us_recording_203_window_004: 31,
      us_recording_225_window_004: 40,
      vic_recording_107_window_000: 27,
      vic_recording_111_window_000: 27,
      vic_recording_122_window_000: 27,
    }),
    group: 'starnet-$1',
    groupFrom: /^([a-z]+)_.*$/,
    sidecar: {
      location: 'Chicago area, US (us), Osnabrueck, DE (osn), Victoria, CA (vic)',
      mobility: 'stationary',
      rate_basis: 'iperf3 per second',
      note: 'first 300 s',
    },
  },
  {
    name: 'tum-idp',
    about: "stationary, Munich, 2023-07, windows of 20 min of TCP at 1 Hz, with the dish's ping",
    licence: NO_LICENCE,
    sources: [
      {
        repository: 'rcastellotti/idp',
        commit: '3a6383be42643e7c4886fee462f3b3b2df567b25',
        path: 'data/large_file_download_5parallel.csv',
        name: 'wget5',
      },
    ],
    convert: idpRows,
    group: 'tum-munich-2023-07',
    sidecar: {
      location: 'Munich/Garching, DE (TUM)',
      mobility: 'stationary',
      transport: 'tcp, 5 parallel wget',
      rate_basis: 'bytes received by the network card',
      rtt_note: 'dish popPingLatencyMs, short moving average, under load',
      tz_note: 'logged local time assumed CEST (UTC+2); seconds unaffected',
      resample_note: '~1.09 s samples re-gridded to 1 s by cumulative bytes',
    },
  },
  {
    name: 'mmsys24',
    about: 'stationary, Victoria and Seychelles, 2 x 120 s of one TCP flow at 0.1 s',
    licence: MMSYS24_LICENCE,
    sources: [
      {
        ...MMSYS24,
        path: 'src/throughput/downlink/isl-iperf3-0.1s-2m-2023-09-21-06-10-00.json',
        sha256: '629aa881fe4fb7ff6bea76251ef446f3afee2df875dd32ee2e3a2108f926e77c',
        sidecar: { location: 'Seychelles (ISL, Lagos PoP)' },
      },
      {
        ...MMSYS24,
        path: 'src/throughput/downlink/no-isl-iperf3-2m-2023-09-21-06-10-00.json',
        sha256: 'c5a5a0ad6bbe626a76367204ddbb1d12165f1498eba8231f94d6c25a5175129d',
        sidecar: { location: 'Victoria BC (bent pipe, Seattle PoP)' },
      },
    ],
    convert: iperfJson,
    group: 'mmsys24-$1',
    groupFrom: /^([a-z]+)-.*$/,
    sidecar: {
      mobility: 'stationary',
      transport: 'tcp x1 iperf3',
      rate_basis: 'TCP goodput',
      clock_note: 'the iperf3 start stamp has a resolution of 1 s',
    },
  },
  {
    name: 'cau-seoul',
    about: 'stationary, Seoul, 2026-04, 67 min of TCP (BBR, CUBIC) and saturating UDP at 0.1 s',
    licence: NO_LICENCE,
    sources: [
      seoul(
        '59d2c4c9244a85d81919786b6108d038e5c5fabc',
        '20260403_131427_tcp_bbr_downlink_test17',
        'tcp bbr x1',
        'ff15495f90c935cd6e7652222930bd488abd63d59c297e4f929d429c995d9a42',
      ),
      seoul('59d2c4c9244a85d81919786b6108d038e5c5fabc', '20260403_133033_tcp_cubic_downlink_test18', 'tcp cubic x1'),
      seoul(
        '8fcfa9f6c3b726c8fe1ecf7fe7be9efb65173475',
        '20260403_155209_udp_none_downlink_test21_500Mbps',
        'udp x1',
        'd3a591eb30c3327d2e84f6f2bf1985d1e6e0697d18afc2b97884d2cedf611111',
      ),
      // Its folder says bbr, its log cubic.
      seoul(
        '4c9d762146cc3dece4a7820f47d2bd2ff10f4e47',
        '20260406_172130_tcp_bbr_downlink_server_test8',
        'tcp cubic x1',
      ),
      seoul('3475b0e95fce15ba624adf252bf04eced514f0a4', '20260407_144650_tcp_bbr_downlink_310s_test', 'tcp bbr x1'),
      seoul('01f20b9b80f577d79d2639708b4abc1c40563224', '20260411_155636_tcp_cubic_downlink_3', 'tcp cubic x1'),
      seoul('01f20b9b80f577d79d2639708b4abc1c40563224', '20260411_160814_tcp_bbr_downlink_4', 'tcp bbr x1'),
      seoul(
        '70e4ac3f5f308698941a799e59a20acb4ba3ec90',
        '20260411_194620_tcp_bbr_downlink_sh_multi_test01',
        'tcp bbr x10',
      ),
      seoul(
        '534e51d85daa54352ca9b149bdcd7d9ac04001bb',
        '20260411_200024_tcp_bbr_downlink_sh_single_test01',
        'tcp bbr x1',
      ),
      seoul(
        '534e51d85daa54352ca9b149bdcd7d9ac04001bb',
        '20260411_200718_tcp_bbr_downlink_sh_single_test02',
        'tcp bbr x1',
      ),
      seoul(
        '534e51d85daa54352ca9b149bdcd7d9ac04001bb',
        '20260411_201357_tcp_cubic_downlink_sh_multi_test03',
        'tcp cubic x1',
      ),
      seoul(
        '622f42ca10af4a31535c5ea360e39362a6147a19',
        '20260411_204619_tcp_bbr_downlink_sh_multi_test_04',
        'tcp bbr x10',
      ),
      seoul(
        '622f42ca10af4a31535c5ea360e39362a6147a19',
        '20260411_205300_tcp_bbr_downlink_sh_multi_test05',
        'tcp bbr x10',
      ),
      seoul(
        '622f42ca10af4a31535c5ea360e39362a6147a19',
        '20260411_210155_tcp_cubic_downlink_sh_multi_test06',
        'tcp cubic x10',
      ),
    ],
    convert: nicCounter,
    group: 'cau-seoul-$1-$2-$3',
    groupFrom: DAY,
    handoverSecond: 12,
    sidecar: {
      location: 'Seoul, KR (Chung-Ang University; server on campus)',
      mobility: 'stationary (not stated; lab PC)',
      rate_basis: 'bytes received by the network card (all traffic); near the capacity for udp, goodput for tcp',
      resample_note: 'counter read about every 0.104 s; cumulative bytes interpolated to a grid of 0.1 s',
      clock_note: 'host clock with NTP, some ms',
    },
  },
  {
    name: 'emulator-lagos',
    about: 'stationary, Lagos point of presence, epochs of TCP at 0.1 s with delay and loss',
    licence: `${NO_LICENCE}; the upstream LENS data: CC BY-SA 4.0`,
    sources: [
      {
        repository: 'Peter-LiDP/Starlink-Emulator',
        commit: '39055a4e1d349a9e1f945807ce069b86ef5a701b',
        path: 'lagos.csv',
      },
    ],
    convert: joinedEpochs,
    group: 'emulator-lagos',
    handoverSecond: 12,
    sidecar: {
      location: 'Lagos PoP, dish on ISL path (not stated in the repository)',
      mobility: 'stationary',
      transport: 'tcp iperf3 0.1 s (up and down at once) + irtt 10 ms',
      rate_basis: 'TCP goodput',
      rtt_note: 'uplink + downlink one-way delay',
      loss_note: 'downlink irtt loss',
      gap_note: 'the authors dropped epochs with long outages and joined the rest; joins are at time_s = 12 mod 15',
      shift_note: 'rates moved by +1.5 s, so that their dip meets the jump of the delay',
    },
  },
  {
    name: 'leocc',
    about: 'stationary, site A of LeoCC, 2 x 90 s of saturating UDP at 0.1 s with delay',
    licence: 'MIT (SpaceNetLab/LeoCC; slices in an MIT repository)',
    cite: "LeoCC (SIGCOMM'25), https://github.com/SpaceNetLab/LeoCC",
    sources: [
      {
        ...LEO_AWARE,
        path: 'traces/leocc/q00_A_downlink_001.csv',
        name: 'A-001',
        sha256: '9de6ffdddadf22dd700d38e8b5c196c6834c9d68a5a4d122da9d6718b4b1aa1b',
      },
      {
        ...LEO_AWARE,
        path: 'traces/leocc/q25_A_downlink_600.csv',
        name: 'A-600',
        sha256: 'cb5fd8ab28c6c7aaeca5ce1f28d6344a2f08dadb6e23fcb58f1b2b108cbeadfe',
      },
    ],
    convert: halfStepRows,
    group: 'leocc-$1',
    groupFrom: /^([A-Z])-.*$/,
    handoverSecond: 'deepest',
    sidecar: {
      location: 'anonymous site A (LeoCC)',
      mobility: 'stationary (not stated)',
      transport: 'udp iperf3 saturating + icmp',
      rate_basis: 'saturating UDP: near the capacity',
      rtt_note: '2 x one-way delay',
      clock_note: 'no wall clock',
    },
  },
  {
    name: 'leocc-all',
    about: 'LeoCC, 4 sites x 600 x 120 s of saturating UDP; only with --from',
    licence: 'MIT (SpaceNetLab/LeoCC)',
    cite: "LeoCC (SIGCOMM'25), https://github.com/SpaceNetLab/LeoCC",
    sources: [
      {
        repository: 'SpaceNetLab/LeoCC',
        byHand: 'the archive 4.8K.zip of https://github.com/SpaceNetLab/LeoCC',
        path: /^(?:.*\/)?([A-Z])_download\/(\d+)\/bw_\2\.txt$/,
        name: '$1-$2',
      },
    ],
    convert: packetTimes,
    group: 'leocc-$1',
    groupFrom: /^([A-Z])-.*$/,
    handoverSecond: 'deepest',
    sidecar: {
      location: 'anonymous sites (LeoCC)',
      transport: 'udp iperf3 saturating',
      rate_basis: 'saturating UDP: near the capacity',
      clock_note: 'no wall clock',
    },
  },
  {
    name: 'uvic-zenodo',
    about: 'stationary, Victoria, 2023-09, 3 x 120 s of one TCP flow at 0.1 s with RTT',
    licence: 'CC BY 4.0',
    cite: ZENODO,
    sources: [
      {
        ...LEO_AWARE,
        path: 'traces/zhao_zenodo23/q00_20230913T004000Z.csv',
        name: '20230913T004000Z',
        sha256: '5dc5329c7bf11d02d890e23f4f036cb0b1f70b1629e80e85af1af0d5aa0a9dff',
      },
      {
        ...LEO_AWARE,
        path: 'traces/zhao_zenodo23/q25_20230914T063000Z.csv',
        name: '20230914T063000Z',
        sha256: 'ee9e10a3a8e76554937dd50d2e639abc5fffdda32126ecb602a615cc11f19689',
      },
      { ...LEO_AWARE, path: 'traces/zhao_zenodo23/q50_20230915T122000Z.csv', name: '20230915T122000Z' },
    ],
    convert: halfStepRows,
    group: 'uvic-zenodo-$1$2$3',
    groupFrom: DAY,
    handoverSecond: 11.4,
    sidecar: {
      location: 'Victoria BC, CA (Seattle PoP, GCP us-west1)',
      mobility: 'stationary',
      transport: 'tcp cubic x1 iperf3, concurrent irtt 10 ms',
      rate_basis: 'TCP goodput',
      rtt_note: 'mean of two samples of irtt; lost probes are missing',
      clock_note: 'nominal minute of the file name',
    },
  },
  {
    name: 'uvic-zenodo-all',
    about: 'stationary, Victoria, 2023-09, 716 x 120 s of one TCP flow at 0.1 s; only with --from',
    licence: 'CC BY 4.0',
    cite: ZENODO,
    sources: [
      {
        repository: 'zenodo/10020034',
        byHand: 'https://zenodo.org/records/10020034/files/data-20230913-20230917.tar.zst',
        path: /iperf[^/]*\.json$/i,
      },
    ],
    convert: namedByStart(iperfJson),
    group: 'uvic-zenodo-$1$2$3',
    groupFrom: DAY,
    handoverSecond: 11.4,
    sidecar: {
      location: 'Victoria BC, CA (Seattle PoP, GCP us-west1)',
      mobility: 'stationary',
      transport: 'tcp cubic x1 iperf3',
      rate_basis: 'TCP goodput',
      clock_note: 'the iperf3 start stamp has a resolution of 1 s',
    },
  },
  {
    name: 'nuwins-maine-0.5s',
    about: 'driving, Maine, 2024-05, some 100 x 2 min of UDP (with loss) and TCP at 0.5 s',
    licence: NO_LICENCE,
    sources: [
      {
        repository: 'NUWiNS/starlink-measurement',
        commit: '3da98d05dde75774146fdcbf57c37ddc2e7c0398',
        path: /^datasets\/maine_starlink_trip\/raw\/starlink\/(\d{8})\/\d+\/(udp|tcp)_downlink_(\d{6})\d*\.out$/,
        name: '$2-$1T$3',
      },
    ],
    convert: stampedOutput,
    group: 'nuwins-maine-$1$2$3',
    groupFrom: DAY,
    handoverSecond: 11.5,
    sidecar: {
      location: 'Maine / New England road trip, US (2024-05)',
      mobility: 'vehicle (in motion for most runs)',
      transport: 'tcp: nuttcp x1; udp: iperf3, 500 Mbit/s offered',
      rate_basis: 'TCP goodput (tcp-*), received UDP near the capacity (udp-*)',
      clock_note: 'earliest start that the stamps allow; output is buffered, +-0.1 to 0.5 s; EDT converted to UTC',
    },
  },
  {
    name: 'mmsys24-ping',
    about: 'stationary, Victoria and Seychelles, 2023-09, pings with UTC, no rates',
    licence: MMSYS24_LICENCE,
    sources: [
      {
        ...MMSYS24,
        path: 'src/latency/isl-ping-gw-lagos-230911-172603-0.1s-60min.txt',
        sidecar: { location: 'Seychelles (ISL, Lagos)' },
      },
      {
        ...MMSYS24,
        path: 'src/latency/no-isl-ping-gw-seattle-230911-170535-0.1s-60min.txt',
        sidecar: { location: 'Victoria BC (Seattle)' },
      },
    ],
    convert: pingLines,
    sidecar: { mobility: 'stationary', direction: 'rtt only', transport: 'ICMP to the gateway of the PoP' },
  },
  {
    name: 'lls-victoria',
    about: 'stationary, Victoria, 2024-12, 4 x 13 min of pings at 0.1 s with UTC, no rates',
    licence: 'GPL-3.0 (the repository; none for the data alone)',
    sources: [1, 2, 3, 4].map((run) => ({
      repository: 'clarkzjw/LEOLiveStreaming',
      commit: 'aa159d3289598c08d8f8be3fc2a567b314b70aa4',
      path: `shaper/bent_pipe_victoria_${run}_latency.csv`,
    })),
    convert: pingMedians,
    sidecar: {
      location: 'Victoria BC, CA',
      mobility: 'stationary',
      direction: 'rtt only',
      transport: 'ICMP ping every 10 ms or so (dish to gateway of the PoP), median per 0.1 s',
    },
  },
];
