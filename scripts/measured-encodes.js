/** What `npm run measure-encodes` measured, for `npm run fit-quality`. */
import { readFileSync } from 'node:fs';

/** Encodes count so much, because they are few. */
const WEIGHT = 3;

const mean = (values) => values.reduce((total, value) => total + value, 0) / values.length;

export function readEncodes(file) {
  const [names, ...lines] = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => {
    const values = line.split(',');
    const row = Object.fromEntries(names.split(',').map((name, i) => [name, values[i]]));
    const number = (name) => Number(row[name]);
    return {
      ...{ source: row.source, codec: row.codec, lines: number('lines'), displayLines: number('display_lines') },
      ...{ frameRate: number('frame_rate'), referenceRate: number('reference_rate') },
      ...{ bitrateBps: number('bitrate_bps'), quality: number('vmaf') },
    };
  });
}

/** Of full-rate encodes on the displays of VMAF's models. */
export function encodeTargets(encodes) {
  return encodes
    .filter(({ displayLines, frameRate }) => displayLines >= 1080 && frameRate === 30)
    .map(({ source, codec, lines, displayLines, bitrateBps, quality }) => ({
      ...{ group: `encodes for ${displayLines}`, source, quality, weight: WEIGHT },
      encoding: { bitrateBps, codec, width: (lines * 16) / 9, height: lines, displayedLines: displayLines },
    }));
}

/**
 * Bits of each codec for a bit of H.264 at the same VMAF: by source, the mean ratio over the qualities that both curves
 * reach (Bjontegaard's, by straight lines over the bitrate's logarithm).
 */
export function codecFactors(encodes) {
  const full = encodes.filter(({ frameRate, lines, displayLines }) => frameRate === 30 && lines === displayLines);
  const curveOf = (source, lines, codec) =>
    full
      .filter((row) => row.source === source && row.lines === lines && row.codec === codec)
      .map(({ bitrateBps, quality }) => [quality, Math.log(bitrateBps)])
      .sort(([a], [b]) => a - b);
  const kinds = new Map(full.filter(({ codec }) => codec !== 'h264').map((row) => [`${row.source} ${row.lines}`, row]));
  return ['hevc', 'vp9', 'av1'].map((codec) => {
    const logs = [...kinds.values()].flatMap(({ source, lines }) => {
      const [ours, theirs] = [codec, 'h264'].map((one) => curveOf(source, lines, one));
      if (ours.length === 0) return [];
      const from = Math.max(ours[0][0], theirs[0][0]);
      const to = Math.min(ours.at(-1)[0], theirs.at(-1)[0]);
      if (!(to > from)) return [];
      const steps = Array.from({ length: 21 }, (_, i) => from + ((to - from) * i) / 20);
      return [mean(steps.map((quality) => at(ours, quality) - at(theirs, quality)))];
    });
    const spread = Math.sqrt(mean(logs.map((log) => (log - mean(logs)) ** 2)));
    return {
      codec,
      factor: Math.exp(mean(logs)),
      low: Math.exp(mean(logs) - spread),
      high: Math.exp(mean(logs) + spread),
      logs,
    };
  });
}

function at(curve, quality) {
  const i = Math.max(
    1,
    curve.findIndex(([other]) => other >= quality),
  );
  const [[q0, x0], [q1, x1]] = [curve[i - 1], curve[i]];
  return x0 + ((x1 - x0) * (quality - q0)) / (q1 - q0 || 1);
}

/** VMAF of repeated pictures as a share of the full rate's, by frame rate; means over sources. */
export function frameRateShares(encodes) {
  const rows = encodes.filter(({ referenceRate }) => referenceRate === 60);
  return [30, 15].map((rate) => {
    const shares = rows.flatMap(({ source, frameRate, quality }) => {
      const full = rows.find((other) => other.source === source && other.frameRate === 60);
      return frameRate === rate && full ? [quality / full.quality] : [];
    });
    return { rate, share: mean(shares), shares };
  });
}
