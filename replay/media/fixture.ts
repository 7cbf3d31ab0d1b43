/** Parses an encoded clip into its initialisation segment and its samples, from which segments are composed. */

import { boxesIn, findBox } from './boxes.ts';

export interface Sample {
  bytes: Uint8Array;
  /** In units of the clip's timescale. */
  durationTicks: number;
  flags: number;
  isSync: boolean;
}

export interface Clip {
  kind: 'video' | 'audio';
  /** RFC 6381, as in the MPD: `avc1.64000a`, `mp4a.40.2`. */
  codec: string;
  /** Picture size; 0 for audio. */
  width: number;
  height: number;
  timescale: number;
  trackId: number;
  /** `ftyp` and `moov`. */
  init: Uint8Array;
  samples: readonly Sample[];
}

const BOX_HEADER_BYTES = 8;
const NON_SYNC_FLAG = 0x10000;
const AAC_LC = 'mp4a.40.2';

export const clipFromBase64 = (text: string): Clip =>
  readClip(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));

/** Reads an MP4 of one track and one fragment, with the fields that make-fixtures.sh and `composeSegment` write. */
export function readClip(file: Uint8Array): Clip {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const moovEnd = findBox(file, 'moov').end;
  const fragments = boxesIn(file).filter(({ type }) => type === 'moof');
  if (fragments.length !== 1) throw new Error(`MP4: expected one fragment, got ${fragments.length}`);

  const mdhd = findBox(file, 'moov/trak/mdia/mdhd').start;
  const hdlr = findBox(file, 'moov/trak/mdia/hdlr').start;
  const handler = String.fromCharCode(...file.subarray(hdlr + 8, hdlr + 12));
  const kind = handler === 'soun' ? 'audio' : 'video';
  const tfhd = findBox(file, 'moof/traf/tfhd').start;

  const clip = {
    kind,
    timescale: view.getUint32(mdhd + (file[mdhd] === 1 ? 20 : 12)),
    trackId: view.getUint32(tfhd + 4),
    init: file.slice(0, moovEnd),
    samples: readSamples(file, view),
  } as const;
  if (kind === 'audio') return { ...clip, codec: AAC_LC, width: 0, height: 0 };

  // An avc1 sample entry has 78 bytes of fields before its boxes; bytes 1 to 3 of avcC are the codec's profile and
  // level.
  const avc1 = boxesIn(file, findBox(file, 'moov/trak/mdia/minf/stbl/stsd').start + 8, moovEnd)[0]!;
  const avcC = boxesIn(file, avc1.start + 78, avc1.end).find(({ type }) => type === 'avcC')!;
  const profile = [...file.subarray(avcC.start + 1, avcC.start + 4)].map((byte) => byte.toString(16).padStart(2, '0'));
  return {
    ...clip,
    codec: `avc1.${profile.join('')}`,
    width: view.getUint16(avc1.start + 24),
    height: view.getUint16(avc1.start + 26),
  };
}

/** The samples that `trun` lists, with the defaults of `tfhd`. Their offset counts from the `moof`. */
function readSamples(file: Uint8Array, view: DataView): Sample[] {
  const tfhd = findBox(file, 'moof/traf/tfhd').start;
  const trun = findBox(file, 'moof/traf/trun').start;
  // The fields begin behind version, flags and count; the first is the data offset.
  let at = trun + 12;
  const columns = view.getUint32(trun);
  // Duration, size and flags are each a column of `trun`, or a field of `tfhd` behind version, flags and track.
  const field = (number: 0 | 1 | 2): number => {
    if ((columns & (0x100 << number)) === 0) return view.getUint32(tfhd + 8 + 4 * number);
    at += 4;
    return view.getUint32(at - 4);
  };
  let offset = findBox(file, 'moof').start - BOX_HEADER_BYTES + view.getUint32(trun + 8);
  return Array.from({ length: view.getUint32(trun + 4) }, () => {
    const [durationTicks, size, flags] = [field(0), field(1), field(2)];
    offset += size;
    const bytes = file.slice(offset - size, offset);
    return { bytes, durationTicks, flags, isSync: (flags & NON_SYNC_FLAG) === 0 };
  });
}
