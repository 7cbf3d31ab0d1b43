/** Puts the composer's media into other containers: MPEG-2 transport streams and encrypted fragments. */

import { createCipheriv } from 'node:crypto';
import { box, boxesIn, concatBytes, findBox, fullBox, u32 } from '../../replay/media/boxes.ts';
import { ByteRuns } from '../../replay/media/byte-runs.ts';
import type { Clip } from '../../replay/media/fixture.ts';

const ascii = (text: string) => new TextEncoder().encode(text);

/** Prepends a `free` box, so that the media has this size. */
export function padded(media: Uint8Array, sizeBytes: number): ByteRuns {
  const count = Math.max(0, sizeBytes - media.length - 8);
  return new ByteRuns([concatBytes([u32(8 + count), ascii('free')]), { fill: 0, count }, media]);
}

/** The NAL units of a sample, each without its length. */
function nalUnits(sample: Uint8Array): Uint8Array[] {
  const view = new DataView(sample.buffer, sample.byteOffset, sample.byteLength);
  const units: Uint8Array[] = [];
  for (let at = 0; at < sample.length; at += 4 + view.getUint32(at))
    units.push(sample.subarray(at + 4, at + 4 + view.getUint32(at)));
  return units;
}

// ---- Common encryption (ISO/IEC 23001-7), scheme `cenc` ----

export const KEY = { id: Buffer.from(`${'00'.repeat(15)}07`, 'hex'), key: Buffer.from('1e0a'.repeat(8), 'hex') };
const IV_BYTES = 8;
/** The start of a NAL unit stays clear: its length, and its headers with a margin. */
const CLEAR_BYTES = 36;

/** Applies a change to the content of the box at a path. */
function within(bytes: Uint8Array, [type, ...rest]: string[], change: (content: Uint8Array) => Uint8Array): Uint8Array {
  const boxes = boxesIn(bytes).map((one) => {
    const content = bytes.subarray(one.start, one.end);
    if (one.type !== type) return box(one.type, content);
    return box(type, rest.length > 0 ? within(content, rest, change) : change(content));
  });
  return concatBytes(boxes);
}

/** This box gives every system the key's id (W3C, "cenc" initialization data). */
const PSSH = fullBox('pssh', 1, 0, Buffer.from('1077efecc0b24d02ace33c1e52e2fb4b', 'hex'), u32(1), KEY.id, u32(0));

/** Replaces the sample entry by a box that `change` makes of the entry's content and type. */
export function withSampleEntry(init: Uint8Array, change: (entry: Uint8Array, type: string) => Uint8Array): Uint8Array {
  return within(init, 'moov/trak/mdia/minf/stbl/stsd'.split('/'), (content) => {
    const { start, end, type } = boxesIn(content, 8)[0]!;
    return concatBytes([content.subarray(0, 8), change(content.subarray(start, end), type)]);
  });
}

export function encryptedInit(init: Uint8Array): Uint8Array {
  const withPssh = within(init, ['moov'], (content) => concatBytes([content, PSSH]));
  return withSampleEntry(withPssh, (entry, type) => {
    const tenc = fullBox('tenc', 0, 0, Uint8Array.of(0, 0, 1, IV_BYTES), KEY.id);
    const schm = fullBox('schm', 0, 0, ascii('cenc'), u32(0x10000));
    const sinf = box('sinf', box('frma', ascii(type)), schm, box('schi', tenc));
    return box(type === 'avc1' ? 'encv' : 'enca', entry, sinf);
  });
}

/** Encrypts a fragment, `moof` and `mdat`, that `composeSegment` has made without padding. */
export function encryptedFragment(fragment: Uint8Array, isVideo: boolean): Uint8Array {
  const bytes = fragment.slice();
  const view = new DataView(bytes.buffer);
  const trun = findBox(bytes, 'moof/traf/trun').start;
  const count = view.getUint32(trun + 4);
  let at = findBox(bytes, 'mdat').start;
  const entries = Array.from({ length: count }, (_, i) => {
    const sample = bytes.subarray(at, at + view.getUint32(trun + 12 + 12 * i + 4));
    const iv = Buffer.alloc(16);
    iv.writeUInt32BE(i + 1);
    const cipher = createCipheriv('aes-128-ctr', KEY.key, iv);
    const parts = isVideo ? nalUnits(sample).map(({ length }) => subsample(4 + length)) : [[0, sample.length] as const];
    let part = 0;
    for (const [clear, hidden] of parts) {
      part += clear;
      sample.set(cipher.update(sample.subarray(part, part + hidden)), part);
      part += hidden;
    }
    at += sample.length;
    const table = parts.map(([clear, hidden]) => concatBytes([u32(clear).subarray(2), u32(hidden)]));
    return concatBytes([iv.subarray(0, IV_BYTES), ...(isVideo ? [u32(parts.length).subarray(2), ...table] : [])]);
  });
  const senc = fullBox('senc', 0, isVideo ? 2 : 0, u32(count), ...entries);
  const sizes = Uint8Array.from(entries, ({ length }) => length);
  const saiz = fullBox('saiz', 0, 0, Uint8Array.of(0), u32(count), sizes);
  const traf = findBox(bytes, 'moof/traf');
  // The entries begin after the header, the flags and the count of `senc`; the offset counts from the `moof`.
  const saio = fullBox('saio', 0, 0, u32(1), u32(traf.end - findBox(bytes, 'moof').start + 8 + 16));
  const added = [senc, saiz, saio];
  const addedBytes = added.reduce((sum, { length }) => sum + length, 0);
  view.setUint32(trun + 8, view.getUint32(trun + 8) + addedBytes);
  return within(bytes, ['moof', 'traf'], (content) => concatBytes([content, ...added]));
}

/** Numbers of clear and encrypted bytes. Encrypted bytes are whole blocks. */
function subsample(bytes: number): readonly [number, number] {
  const hidden = Math.max(0, bytes - CLEAR_BYTES) & ~15;
  return [bytes - hidden, hidden];
}

export const SEGMENT_IV = Buffer.alloc(16, 5);

/** Encrypts a whole file by AES-128 for HLS. */
export function encryptedFile(file: ByteRuns): ByteRuns {
  const cipher = createCipheriv('aes-128-cbc', KEY.key, SEGMENT_IV);
  return new ByteRuns([cipher.update(file.toBytes()), cipher.final()]);
}

// ---- MPEG-2 transport streams (ISO/IEC 13818-1) ----

const PACKET_BYTES = 188;
const PIDS = { pmt: 0x1000, video: 0x100, audio: 0x101 };
const CLOCK_HZ = 90_000;
/** The presentation time of media time 0. The clock reference precedes it. */
const START_TICKS = CLOCK_HZ;
/** A packet without content. */
const NULL_PACKET = Buffer.alloc(PACKET_BYTES, 0xff).fill(Buffer.from([0x47, 0x1f, 0xff, 0x10]), 0, 4);

export type Place = Record<'startSeconds' | 'seconds' | 'sizeBytes', number>;

/** Whole seconds of video and audio in one transport stream, with null packets up to its size. */
export function tsSegment(video: Clip, audio: Clip, { startSeconds, seconds, sizeBytes }: Place): ByteRuns {
  const packets = [tablePacket(0, [0x00, 0x01, ...pid16(PIDS.pmt)], 0x00), tablePacket(PIDS.pmt, programMap(), 0x02)];
  const counters = new Map<number, number>();
  const write = (pid: number, streamId: number, atSeconds: number, data: Uint8Array) => {
    const ticks = Math.round(atSeconds * CLOCK_HZ);
    packets.push(...pesPackets(pid, { streamId, ticks, data, counters }));
  };
  for (const at of sampleTimes(video, startSeconds, seconds)) {
    const sample = video.samples[at.index % video.samples.length]!;
    const start = sample.isSync ? parameterSets(video) : [];
    const units = [Uint8Array.of(0x09, 0xf0), ...start, ...nalUnits(sample.bytes)];
    write(PIDS.video, 0xe0, at.seconds, concatBytes(units.flatMap((unit) => [u32(1), unit])));
  }
  for (const at of sampleTimes(audio, startSeconds, seconds)) {
    const { bytes } = audio.samples[at.index % audio.samples.length]!;
    write(PIDS.audio, 0xc0, at.seconds, concatBytes([adtsHeader(bytes.length), bytes]));
  }
  const nulls = Math.max(0, Math.round(sizeBytes / PACKET_BYTES) - packets.length);
  return new ByteRuns([...packets, ...Array.from({ length: nulls }, () => NULL_PACKET)]);
}

function* sampleTimes({ samples, timescale }: Clip, startSeconds: number, seconds: number) {
  const sampleSeconds = samples[0]!.durationTicks / timescale;
  // Because of rounding, a margin assigns a sample at the end of the segment to the next segment.
  const first = Math.ceil(startSeconds / sampleSeconds - 1e-6);
  for (let index = first; (index + 1e-6) * sampleSeconds < startSeconds + seconds; index++)
    yield { index, seconds: index * sampleSeconds };
}

const pid16 = (pid: number) => [0xe0 | (pid >> 8), pid & 0xff];

function programMap(): number[] {
  const stream = (type: number, pid: number) => [type, ...pid16(pid), 0xf0, 0];
  return [...pid16(PIDS.video), 0xf0, 0, ...stream(0x1b, PIDS.video), ...stream(0x0f, PIDS.audio)];
}

/** A program association or program map table. */
function tablePacket(pid: number, content: number[], tableId: number): Uint8Array {
  const length = content.length + 9;
  const section = [tableId, 0xb0 | (length >> 8), length & 0xff, 0x00, 0x01, 0xc1, 0x00, 0x00, ...content];
  const bytes = [0x47, 0x40 | (pid >> 8), pid & 0xff, 0x10, 0x00, ...section, ...u32(crc32(section))];
  return Buffer.alloc(PACKET_BYTES, 0xff).fill(Buffer.from(bytes), 0, bytes.length);
}

function crc32(bytes: readonly number[]): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  return crc >>> 0;
}

type Pes = { streamId: number; ticks: number; data: Uint8Array; counters: Map<number, number> };

function pesPackets(pid: number, { streamId, ticks, data, counters }: Pes): Uint8Array[] {
  const pts = ticks + START_TICKS;
  const stamp = [0x21 | ((pts >> 29) & 0x0e), pts >> 22, 0x01 | (pts >> 14), pts >> 7, 0x01 | (pts << 1)];
  // The length may be 0 for video alone.
  const length = streamId === 0xe0 ? 0 : data.length + 8;
  const header = [0x00, 0x00, 0x01, streamId, length >> 8, length, 0x84, 0x80, 0x05, ...stamp];
  const pes = concatBytes([Uint8Array.from(header), data]);
  const packets: Uint8Array[] = [];
  for (let at = 0; at < pes.length; ) {
    // The clock reference has 33 bits of the clock, 6 reserved bits and 9 bits of its extension.
    const clock = [ticks >> 25, ticks >> 17, ticks >> 9, ticks >> 1, ((ticks & 1) << 7) | 0x7e, 0];
    const fields = at === 0 && pid === PIDS.video ? [0x10, ...clock] : [];
    const room = PACKET_BYTES - 4 - (fields.length > 0 ? 1 + fields.length : 0);
    const piece = pes.subarray(at, at + room);
    const stuffing = room - piece.length;
    const hasFields = fields.length > 0 || stuffing > 0;
    const counter = counters.get(pid) ?? 0;
    counters.set(pid, (counter + 1) & 15);
    const head = [0x47, (at === 0 ? 0x40 : 0) | (pid >> 8), pid & 0xff, (hasFields ? 0x30 : 0x10) | counter];
    if (hasFields) {
      const all = fields.length > 0 ? fields : stuffing > 1 ? [0x00] : [];
      const fieldBytes = PACKET_BYTES - 4 - 1 - piece.length;
      head.push(fieldBytes, ...all, ...new Array<number>(fieldBytes - all.length).fill(0xff));
    }
    packets.push(concatBytes([Uint8Array.from(head), piece]));
    at += piece.length;
  }
  return packets;
}

/** The sequence and picture parameter sets of `avcC`, one each. */
function parameterSets({ init }: Clip): Uint8Array[] {
  const at = Buffer.from(init).indexOf('avcC') + 4;
  const sps = (init[at + 6]! << 8) | init[at + 7]!;
  const pps = at + 8 + sps + 1;
  const ppsBytes = (init[pps]! << 8) | init[pps + 1]!;
  return [init.subarray(at + 8, at + 8 + sps), init.subarray(pps + 2, pps + 2 + ppsBytes)];
}

/** AAC-LC, 48 kHz, mono. */
function adtsHeader(frameBytes: number): Uint8Array {
  const length = frameBytes + 7;
  return Uint8Array.of(0xff, 0xf1, 0x4c, 0x40 | (length >> 11), length >> 3, ((length & 7) << 5) | 0x1f, 0xfc);
}
