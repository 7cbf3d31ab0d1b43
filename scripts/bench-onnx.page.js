/**
 * The page of `bench-onnx.js`: plays a stream with MPC-L and, unless `mode` is `none`, an ONNX forecaster; notes when things
 * happen (ms since the navigation began) and how long the forecaster keeps the main thread.
 */
import { createOnnxForecaster } from './leo-abr.onnx.js';

const parameters = new URLSearchParams(location.search);
const mode = parameters.get('mode');
const seconds = Number(parameters.get('seconds'));
const urls = { modelUrl: 'built-in.onnx', runtimeUrl: 'ort.mjs', wasmUrl: 'ort.wasm' };

/** Times in ms that the forecaster kept the main thread, by what it was called for. */
const held = { create: [], message: [], timer: [], observe: [], latest: [] };
/** When, in ms. */
const marks = {};

/** Also says so in the trace, which knows how long the processor was busy with it and not with other programs. */
const timed = (kind, action) => {
  console.timeStamp(`begin ${kind}`);
  const begin = performance.now();
  try {
    return action();
  } finally {
    held[kind].push(performance.now() - begin);
    console.timeStamp(`end ${kind}`);
  }
};

/** While the forecaster is made and loads: what it has called back is timed. */
function watchCallbacks() {
  const { addEventListener } = Worker.prototype;
  const { setInterval } = globalThis;
  Worker.prototype.addEventListener = function (type, listener) {
    addEventListener.call(this, type, (event) => {
      if (event.data?.kind) marks[event.data.kind] ??= performance.now();
      timed('message', () => listener(event));
    });
  };
  globalThis.setInterval = (callback, ms) => setInterval(() => timed('timer', callback), ms);
  return () => {
    Worker.prototype.addEventListener = addEventListener;
    globalThis.setInterval = setInterval;
  };
}

function withCallbacks(action) {
  const stop = watchCallbacks();
  try {
    return action();
  } finally {
    stop();
  }
}

const forecasters = [];
let load = () => {};
if (mode !== 'none') {
  const forecaster = withCallbacks(() =>
    timed('create', () => createOnnxForecaster({ ...urls, loadAtOnce: mode === 'at-once' })),
  );
  load = () => withCallbacks(() => timed('create', () => forecaster.load()));
  forecasters.push({
    name: forecaster.name,
    start: (context) => forecaster.start(context),
    observe: (observation) => timed('observe', () => forecaster.observe(observation)),
    tellTime: (...time) => forecaster.tellTime(...time),
    latest: (now) => withCallbacks(() => timed('latest', () => forecaster.latest(now))),
  });
}

const video = document.querySelector('video');
const player = window.dashjs.MediaPlayer().create();
player.updateSettings({ streaming: { scheduling: { defaultTimeout: 20 } } });
const handle = window.LeoAbr.attachLeoAbr(player, { forecasters, prior: false });
const faults = [];
const sources = [];
handle.on('fault', ({ message, cause }) => faults.push(`${message}: ${cause}`));
handle.on('decision', ({ kind, decision }) => {
  if (kind === 'decide') sources.push(decision.forecastSource ?? 'none');
});
video.addEventListener(
  'playing',
  () => {
    marks.playing = performance.now();
    if (mode === 'when-playing') load();
  },
  { once: true },
);
marks.begun = performance.now();
player.initialize(video, parameters.get('manifest'), true);

window.play = async () => {
  while (performance.now() < seconds * 1000) await new Promise((resolve) => setTimeout(resolve, 100));
  const resources = performance
    .getEntriesByType('resource')
    .map(({ name, transferSize, responseEnd }) => ({ name: name.split('/').at(-1), transferSize, responseEnd }));
  return { marks, held, faults, sources, resources };
};

/** Inference in a Worker of its own, without a player: ms per evaluation, by the Worker's clock. */
window.infer = async (count) => {
  const worker = new Worker('leo-abr.onnx-worker.js', { type: 'module' });
  const ask = (message) =>
    new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.postMessage(message);
    });
  const absolute = Object.entries(urls).map(([field, url]) => [field, new URL(url, location.href).href]);
  const { kind, card, message } = await ask({ kind: 'load', ...Object.fromEntries(absolute) });
  if (kind !== 'ready') throw new Error(message);
  const example = JSON.parse(card).check.features;
  const took = [];
  const roundTrips = [];
  for (let id = 0; id < count; id++) {
    const features = Float32Array.from(example, (value) => value + Math.sin(id) / 10);
    const begin = performance.now();
    const { tookMs } = await ask({ kind: 'evaluate', id, features });
    roundTrips.push(performance.now() - begin);
    took.push(tookMs);
  }
  worker.terminate();
  return { took, roundTrips };
};
