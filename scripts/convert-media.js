/** `npm run convert-media`: converts published measurements of videos to scenarios. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine } from './command-line.js';

const { values, positionals, refuse } = commandLine(
  `usage: npm run convert-media -- <media> <out> [--buffer-cap <seconds>] [--rtt <seconds>] [--mean <Mbit/s>]

Writes for each of the media files in the folder <media>, which have "representations", "sizesBytes" and "vmaf" (as
npm run fit-quality reads them), a quality.json and a scenario with it, for --scenario of simulate and bench: <title>.json
and <title>-scenario.json in the folder <out>. A buffer of 60 s and a round trip of 0.08 s are the defaults; --mean is the mean to which
sessions scale each link.`,
  {
    options: {
      'buffer-cap': { type: 'string', default: '60' },
      rtt: { type: 'string', default: '0.08' },
      mean: { type: 'string' },
    },
    positionals: 2,
  },
);
if (positionals.length < 2) refuse(`expected two folders, got ${positionals.join(' ') || 'none'}`);

const [from, to] = positionals;
mkdirSync(to, { recursive: true });
for (const name of readdirSync(from).filter((file) => file.endsWith('.json'))) {
  const media = JSON.parse(readFileSync(join(from, name), 'utf8'));
  const { title, segmentSeconds, representations, sizesBytes, vmaf } = media;
  // The last segment may have almost no bytes and so no meaningful bitrate.
  const isLarge = (bytes, k) => 8 * bytes.at(-1) > 0.05 * representations[k].bitrateBps * segmentSeconds;
  const count = sizesBytes[0].length - (sizesBytes.some(isLarge) ? 0 : 1);
  const entries = representations.map(({ id, ...about }, k) => [
    id,
    { ...about, bytes: sizesBytes[k].slice(0, count), quality: vmaf[k].slice(0, count) },
  ]);
  const quality = { schema: 'leo-abr-quality/1', metric: 'vmaf_v0.6.1', segmentSeconds };
  const scenario = {
    ...{ name: title, media: `${title}.json` },
    ...{ bufferCapSeconds: Number(values['buffer-cap']), rttSeconds: Number(values.rtt) },
    ...(values.mean && { traceScale: { meanBps: 1e6 * Number(values.mean) } }),
  };
  const write = (file, value) => writeFileSync(join(to, file), `${JSON.stringify(value)}\n`);
  write(`${title}.json`, { ...quality, representations: Object.fromEntries(entries) });
  write(`${title}-scenario.json`, scenario);
}
