/** The table of a page's downloads (docs/plugin.md): the plugin's budgets and the players' own sizes, in Brotli. */
import { brotliCompressSync } from 'node:zlib';
import { read } from './command-line.js';

const OWN = {
  'leo-abr.js': ['`leo-abr`', 'with dash.js'],
  'leo-abr.hls.js': ['`leo-abr/hls`', 'with hls.js'],
  'leo-abr.shaka.js': ['`leo-abr/shaka`', 'with Shaka'],
  'leo-abr.trial.js': ['`leo-abr/trial`', 'with the page, for trials and reports'],
  'leo-abr.service.js': ['`leo-abr/service`', 'with the page, for a prediction service'],
  'leo-abr.model.js': ['`leo-abr/model`', 'with the page, for a model by its URL'],
  'leo-abr.onnx.js': ['`leo-abr/onnx`', 'with the page, for an ONNX model'],
  'leo-abr.onnx-worker.js': ['its Worker', 'then, with the runtime (2300 kB) and the model'],
};
const PLAYERS = {
  dashjs: ['dash.js', 'dist/modern/esm/dash.all.min.js'],
  'hls.js': ['hls.js', 'dist/hls.min.js'],
  'shaka-player': ['Shaka', 'dist/shaka-player.compiled.js'],
};

/** Cells of the head and the rows; the last is a number of kB, rounded up. */
export function sizeRows() {
  const budgets = JSON.parse(read('scripts/size-budget.json'));
  const own = Object.entries(OWN).map(([file, cells]) => [...cells, budgets[`dist/${file}`]]);
  const players = Object.entries(PLAYERS).map(([name, [title, file]]) => {
    const { version } = JSON.parse(read(`node_modules/${name}/package.json`));
    return [title, `${version} itself`, brotliCompressSync(read(`node_modules/${name}/${file}`)).length];
  });
  const rows = [...players, ...own].map(([file, when, bytes]) => [file, when, String(Math.ceil(bytes / 1000))]);
  return [['download', 'when', 'kB'], ...rows];
}
