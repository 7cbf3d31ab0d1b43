/** `npm run draw-quality`: quality against bitrate as a picture; see the usage below. */
import { readFileSync, writeFileSync } from 'node:fs';
import { bundledSources } from './bundled-sources.js';
import { commandLine } from './command-line.js';

const { positionals, refuse } = commandLine(
  `usage: npm run draw-quality -- <results.json> <out.svg>

Draws the modelled quality of the bitrates of a results file of simulate or bench, with a circle for the share of
segments that each of its first two algorithms chose.`,
  { options: {}, positionals: 2 },
);
const [file, out] = positionals;
if (out === undefined) refuse(`expected two files, got ${positionals.join(' ') || 'none'}`);
const { modelledQuality, usualDisplayedLines } = await bundledSources('abr/index.ts');
const { scenario, sessions } = JSON.parse(readFileSync(file, 'utf8'));
const { ladderBps } = scenario;
const displayedLines = usualDisplayedLines(ladderBps.map((bitrateBps) => ({ bitrateBps })));

const top = 1.1 * ladderBps.at(-1);
const x = (bps) => 60 + (560 * bps) / top;
const y = (quality) => 330 - 3 * quality;
const qualityOf = (bitrateBps) => modelledQuality({ bitrateBps, displayedLines });
const curve = Array.from({ length: 200 }, (_, i) => ((i + 1) * top) / 200);
const text = (at, up, content, more = '') => `<text x="${at.toFixed(1)}" y="${up.toFixed(1)}"${more}>${content}</text>`;
const colours = ['#1f77b4', '#d62728'];

const marks = [...new Set(sessions.map(({ algorithm }) => algorithm))].slice(0, 2).flatMap((algorithm, a) => {
  const chosen = sessions.filter((one) => one.algorithm === algorithm).flatMap(({ segments }) => segments);
  const circles = ladderBps.map((bps) => {
    const share = chosen.filter(({ bitrateBps }) => bitrateBps === bps).length / chosen.length;
    const style = `fill="${colours[a]}" fill-opacity="0.35" stroke="${colours[a]}"`;
    return `<circle cx="${x(bps).toFixed(1)}" cy="${y(qualityOf(bps)).toFixed(1)}" r="${(36 * Math.sqrt(share)).toFixed(1)}" ${style}/>`;
  });
  return [...circles, text(420, 250 + 22 * a, algorithm, ` fill="${colours[a]}"`)];
});
const axes = [
  ...ladderBps.map((bps) => text(x(bps), 350, String(bps / 1e6), ' text-anchor="middle"')),
  ...[0, 25, 50, 75, 100].map((quality) => text(50, y(quality) + 4, String(quality), ' text-anchor="end"')),
  ...[text(340, 372, 'Mbit/s', ' text-anchor="middle"'), text(10, 16, 'quality')],
];
writeFileSync(
  out,
  [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 380" font-family="sans-serif" font-size="13">',
    `<title>Quality against bitrate, and what two algorithms chose in ${scenario.name}</title>`,
    '<rect width="640" height="380" fill="#fff"/>',
    `<path d="M${curve.map((bps) => `${x(bps).toFixed(1)} ${y(qualityOf(bps)).toFixed(1)}`).join('L')}" fill="none" stroke="#444" stroke-width="2"/>`,
    '<path d="M60 30V330H620" fill="none" stroke="#444"/>',
    ...axes,
    ...marks,
    '</svg>\n',
  ].join('\n'),
);
