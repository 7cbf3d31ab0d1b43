/** Files in the form of the data sets' sources, made by hand: the numbers are invented. */

import { deflateRawSync } from 'node:zlib';

const seconds = (count: number, row: (second: number) => string) =>
  Array.from({ length: count }, (_, second) => row(second)).join('');

/** `14:59:07` of a second of the day. */
const clock = (second: number) => new Date(second * 1000).toISOString().slice(11, 19);
const NOON = 12 * 3600;

/** Two recordings of 200 s and 210 s with a gap between them; a missing second ends the second one before a third of 5 s. */
export const PHONE_ROWS = `time,throughput,speed,latitude,longtitu
${seconds(200, (s) => `2023-04-04 ${clock(NOON + s)} CDT,${100 + (s % 7)}.5,1,44,-93\n`)}${seconds(
  210,
  (s) => `2023-04-05 ${clock(NOON + s)} CDT,${s % 10 === 0 ? '0.0' : 20 + (s % 3)},1,44,-93\n`,
)}${seconds(5, (s) => `2023-04-05 ${clock(NOON + 211 + s)} CDT,50,1,44,-93\n`)}`;

const CAR_ROWS = `timestamp_start_dl,timestamp_end_dl,download,Speed(km/h)
${seconds(60, (s) => `2024-04-19 ${clock(NOON + 20 + s)}.00010${s % 10},2024-04-19 12:00:00.0,${200 + s}.1234,90\n`)}${seconds(
  3,
  (s) => `2024-04-19 ${clock(NOON + 90 + s)}.000,2024-04-19 12:00:00.0,7,90\n`,
)}`;

/** A zip archive with one deflated file. */
export function zipOf(name: string, text: string): Buffer {
  const content = deflateRawSync(Buffer.from(text));
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(8, 4); // deflated
  fields.writeUInt32LE(content.length, 14);
  fields.writeUInt32LE(text.length, 18);
  fields.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), content]);
  const entry = Buffer.concat([Buffer.from('PK\x01\x02\0\0'), fields, Buffer.alloc(14), Buffer.from(name)]);
  const end = Buffer.alloc(18);
  end.writeUInt32LE(entry.length, 8);
  end.writeUInt32LE(local.length, 12);
  return Buffer.concat([local, entry, Buffer.from('PK\x05\x06'), end]);
}

export const CAR_ZIP = zipOf('throughput.csv', CAR_ROWS);

export const ROAD_ROWS = `timestamp_start,timestamp_end,server,priority,download_mbps,upload_mbps
2024-01-11 10:06:39,2024-01-11 10:06:40,192.0.2.1,1,101.25,7
2024-01-11 10:06:40,2024-01-11 10:06:41,192.0.2.1,1,67.5,12
2024-01-11 10:07:50,2024-01-11 10:07:51,192.0.2.1,1,30,12
2024-01-12 08:00:05,2024-01-12 08:00:06,192.0.2.1,0,12,3
`;

/** 25 minutes of rows every 1.25 s, each with 125 Mbit received since the row before: 100 Mbit/s. */
export const IDP_ROWS = `timestamp,bandwidth_bps,pop_ping_latency_ms,downlink_troughput_bps
${seconds(1205, (row) => {
  const stamp = new Date(NOON * 1000 + 500 + row * 1250).toISOString().slice(11, 23);
  return `2023-07-05 ${stamp}000,125000000,${30 + (row % 2) * 10}.0,1\n`;
})}`;

export const TIMED_LINES = seconds(320, (s) => `${s + 1} ${100 + (s % 15)}\n`);

export const HALF_STEPS = `t_s,rtt_ms,capacity_mbps,loss_p,reconfig
0.0000,30.000,10.0000,0,0
0.0500,31.000,20.0000,0,0
0.1000,40.000,5.0000,0,0
0.1500,41.000,6.0000,0,0
0.2000,50.000,7.0000,0,0
`;

export function iperfReport(ratesMbps: readonly number[], reverse = 1): string {
  return JSON.stringify({
    start: { timestamp: { timesecs: Date.UTC(2023, 8, 21, 6, 10, 3) / 1000 }, test_start: { reverse } },
    intervals: ratesMbps.map((rate) => ({ sum: { bits_per_second: rate * 1e6 } })),
  });
}

/** Readings of a counter each 0.125 s: idle, 0.5 s at 80 Mbit/s, a pause of 0.25 s, 0.25 s at 40 Mbit/s, almost idle. */
export const NIC_LOG = [0, 0, 10, 10, 10, 10, 0, 0, 5, 5, 0, 0.1]
  .map((_, i, all) => {
    const bytes = all.slice(0, i + 1).reduce((sum, each) => sum + each, 0) * 125_000;
    return `${1775189667 + Math.floor(i / 8)}.${String((i % 8) * 125).padStart(3, '0')}000000
4: eth0: <UP> mtu 1500
    RX:   bytes  packets errors dropped  missed   mcast
    ${1_000_000_000 + bytes} 25609693      0       0       0       0
    TX:   bytes  packets errors dropped carrier collsns
    22144421956 15953241      0       0       0       0
`;
  })
  .join('');

export const NUTTCP_LOG = `Start time: 1716822274713
[2024-05-27 11:04:35.495674] nuttcp-r: available send window = 786432, available receive window = 786432
[2024-05-27 11:04:35.495000]     3.1875 MB /   0.50 sec =   53.4737 Mbps     0 retrans     13 KB-cwnd
[2024-05-27 11:04:35.990000]     8.6250 MB /   0.50 sec =  144.6679 Mbps     0 retrans     13 KB-cwnd
[2024-05-27 11:06:52.108097] nuttcp-t: 12.8221 MB in 1.00 real seconds = 19258.21 KB/sec = 157.7632 Mbps
`;

export const IPERF_LOG = `Start time: 1716822757537
[2024-05-27 11:13:01.349540] [ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[2024-05-27 11:13:01.350000] [  5]   0.00-0.50   sec  17.5 MBytes   294 Mbits/sec  0.017 ms  25/100 (25%)  
[2024-05-27 11:13:01.350000] [  5]   0.50-1.00   sec  55.0 KBytes   901 Kbits/sec  0.024 ms  0/0 (0%)  
[2024-05-27 11:13:01.360000] [  5]   0.00-1.00 sec  6.99 GBytes   500 Mbits/sec  0.000 ms  0/5359881 (0%)  sender
`;

/** A minute of epochs: 20 to 34 Mbit/s down, one-way delays of 80 and 90.5 ms, a tenth lost in each hundredth row. */
export const EPOCH_ROWS = seconds(
  600,
  (row) => `9.5,${20 + (Math.floor(row / 10) % 15)},80,90.5,0.5,${row % 100 === 0 ? 0.1 : 0},${row * 100}\n`,
);
