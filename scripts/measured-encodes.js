/** Reads the measurements of `npm run measure-encodes` for `npm run fit-quality`. */
import { readFileSync } from 'node:fs';

export const sum = (values) => values.reduce((total, value) => total + value, 0);
export const mean = (values) => sum(values) / values.length;

/** The rows of a CSV as objects. Cells with numbers are numbers. */
export function csvRows(file) {
  const [names, ...lines] = readFileSync(file, 'utf8')
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(','));
  const parsed = (cell) => (Number.isNaN(Number(cell)) ? cell : Number(cell));
  return lines.map((cells) => Object.fromEntries(names.map((name, i) => [name, parsed(cells[i])])));
}

export function readEncodes(file) {
  return csvRows(file).map(({ source, codec, lines, ...row }) => ({
    ...{ source, codec, lines, displayLines: row.display_lines, frameRate: row.frame_rate },
    ...{ referenceRate: row.reference_rate, bitrateBps: row.bitrate_bps, quality: row.vmaf },
  }));
}

/** Targets from full-rate encodes on the displays of VMAF's models. */
export function encodeTargets(encodes) {
  return encodes
    .filter(({ displayLines, frameRate }) => displayLines >= 1080 && frameRate === 30)
    .map(({ source, codec, lines, displayLines, bitrateBps, quality }) => ({
      ...{ group: `encodes for ${displayLines}`, source, quality },
      encoding: {
        ...{ bitrateBps, codec, width: (lines * 16) / 9, height: lines },
        ...{ frameRate: 60, displayedLines: displayLines },
      },
    }));
}

/**
 * Bits of each codec per bit of H.264 at the same VMAF. A source's ratio is the mean over the qualities that both
 * curves reach, as in Bjontegaard's delta, with straight lines over the bitrate's logarithm.
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
    const [low, factor, high] = [-spread, 0, spread].map((change) => Math.exp(mean(logs) + change));
    return { codec, factor, low, high, logs };
  });
}

function at(curve, quality) {
  const found = curve.findIndex(([other]) => other >= quality);
  const i = Math.max(1, found);
  const [[q0, x0], [q1, x1]] = [curve[i - 1], curve[i]];
  return x0 + ((x1 - x0) * (quality - q0)) / (q1 - q0 || 1);
}

/** VMAF of repeated pictures relative to the full rate's, by frame rate. `share` is the mean over sources. */
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
