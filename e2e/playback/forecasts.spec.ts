/** MPC-L's forecasts in a page: of a service, or of an ONNX model under the policies of docs/onnx.md. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type * as onnx from '../../predictor/onnx/index.ts';
import type * as serviceClient from '../../predictor/service-client/index.ts';
import { startService, syntheticDish } from '../../service/index.ts';
import { built, ROOT, TIMING } from '../builds.ts';
import {
  CORE,
  CORE_MODERN,
  expect,
  expectBuiltInForecasts,
  FAULTS,
  LAB_HTML,
  type LabPlayer,
  type ServedFile,
  test,
} from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

test.describe('a service beside a simulated dish', () => {
  test.use({
    files: async ({}, use) =>
      use({ '/leo-abr.service.js': ['text/javascript', built('plugin-service', 'leo-abr.service.js')] }),
  });

  // The service and the page must measure the same link.
  test("decisions use a service's forecasts, and go on without it", { tag: [CORE.tag, TIMING.tag] }, async ({
    labPage,
    stream,
  }) => {
    const linkBps = 4e6;
    const capacity = { startUtcMs: 0, wrapSeconds: 15, stepEndsSeconds: [15], ratesBps: [linkBps] };
    const dish = syntheticDish({ seed: 1, capacity });
    const service = await startService({ version: '1.2.3', port: 0, dish });
    const manifest = `${stream({ segmentCount: 60, link: { 60: linkBps } })}manifest.mpd`;
    await labPage.evaluate(
      async ({ manifest, url }) => {
        const path = '/leo-abr.service.js';
        const { createServiceForecaster }: typeof serviceClient = await import(path);
        const forecaster = createServiceForecaster(url);
        const { player, decisions } = window.lab.start({
          manifest,
          options: { forecasters: [forecaster] },
          settings: { streaming: { buffer: { bufferTimeDefault: 4, bufferTimeAtTopQuality: 4 } } },
        });
        const isUsed = () => decisions.at(-1)?.decision.forecastSource === 'service';
        const isContradicted = () => forecaster.state.verdict === 'contradicted';
        for (;;) {
          await window.lab.until("the service's forecast", () => isUsed() || isContradicted());
          if (isUsed()) return;
          // A busy host has slowed the seconds that are compared with the first forecast. The next session compares anew.
          player.attachSource(manifest);
          await window.lab.until('another session', () => !isContradicted());
        }
      },
      { manifest, url: service.url },
    );
    await service.close();
    const after = await labPage.evaluate(async () => {
      const { video, decisions, faults } = window.lab.players[0]! as LabPlayer;
      const from = video.currentTime;
      const isWithout = () => decisions.at(-1)!.decision.forecastSource === 'built-in' && video.currentTime > from + 3;
      await window.lab.until('a forecast of its own', isWithout);
      return faults.map(({ code }) => code);
    });
    expect(after).toEqual([]);
  });
});

test.describe('an ONNX model', () => {
  /** The policies of the page and of the Worker's script, as the document has them. */
  const POLICIES = readFileSync(join(ROOT, 'docs/onnx.md'), 'utf8').match(/(?<=^ {4}content-security-policy: ).+$/gm)!;
  const STRICTER = POLICIES[1]!.replace(" 'wasm-unsafe-eval'", '');
  const [PAGE_POLICY = {}, WORKER_POLICY = {}, STRICTER_POLICY = {}] = [...POLICIES, STRICTER].map(
    (policy): Record<string, string> => ({ 'content-security-policy': policy }),
  );

  test.use({
    files: async ({}, use) => {
      const worker = built('plugin-onnx-worker', 'leo-abr.onnx-worker.js');
      const runtime = dirname(createRequire(import.meta.url).resolve('onnxruntime-web/wasm'));
      const script = (code: string | Buffer, headers = {}): ServedFile => ['text/javascript', code, headers];
      const bytes = readFileSync(join(ROOT, 'predictor/models/built-in.onnx'));
      const model: ServedFile = ['application/octet-stream', bytes];
      const waiting: ((model: ServedFile) => void)[] = [];
      await use({
        '/': ['text/html', LAB_HTML, PAGE_POLICY],
        '/leo-abr.onnx.js': script(built('plugin-onnx', 'leo-abr.onnx.js')),
        '/leo-abr.onnx-worker.js': script(worker, WORKER_POLICY),
        '/stricter/leo-abr.onnx-worker.js': script(worker, STRICTER_POLICY),
        '/ort.mjs': script(readFileSync(join(runtime, 'ort.wasm.bundle.min.mjs'))),
        '/ort.wasm': ['application/wasm', readFileSync(join(runtime, 'ort-wasm-simd-threaded.wasm'))],
        '/model.onnx': model,
        // A request for `/send-model` sends this file.
        '/late-model.onnx': () => new Promise((resolve) => waiting.push(resolve)),
        '/send-model': async () => {
          for (const send of waiting.splice(0)) send(model);
          return ['text/plain', ''];
        },
        '/page.onnx': ['text/html', LAB_HTML],
      });
    },
  });

  const { name } = JSON.parse(readFileSync(join(ROOT, 'predictor/models/built-in.json'), 'utf8')) as { name: string };

  test('decisions use forecasts of an ONNX model as soon as it is loaded', CORE_MODERN, async ({ onStream }) => {
    const seen = await onStream({ segmentCount: 60 }, async (manifest) => {
      const path = '/leo-abr.onnx.js';
      const { createOnnxForecaster }: typeof onnx = await import(path);
      const urls = { modelUrl: 'late-model.onnx', runtimeUrl: 'ort.mjs', wasmUrl: 'ort.wasm' };
      const forecaster = createOnnxForecaster(urls);
      const { decisions } = window.lab.start({
        manifest,
        options: { forecasters: [forecaster] },
        settings: { streaming: { buffer: { bufferTimeDefault: 4, bufferTimeAtTopQuality: 4 } } },
      });
      await window.lab.until('a forecast of the built-in', () =>
        decisions.some(({ decision }) => decision.forecastSource === 'built-in'),
      );
      const before = forecaster.status;
      const sending = setInterval(() => fetch('/send-model'), 100);
      const isUsed = ({ decision }: (typeof decisions)[number]) => decision.forecastSource?.startsWith('model:');
      await window.lab.until('a forecast of the model', () => decisions.some(isUsed));
      clearInterval(sending);
      const { status } = forecaster;
      forecaster.close();
      return { before, status, decisions: decisions.map(({ decision }) => decision) };
    });
    expect(seen.status).toBe('ready');
    expect(['unloaded', 'loading']).toContain(seen.before);
    // Playback does not wait: the built-in forecaster is used until the model is loaded.
    const sources = seen.decisions.map(({ forecastSource }) => forecastSource);
    expect(new Set(sources)).toEqual(new Set([undefined, 'built-in', `model:${name}`]));
    expect(Math.max(...seen.decisions.map(({ forecastAgeSeconds = 0 }) => forecastAgeSeconds))).toBeLessThan(2);
  });

  test('no model, a wrong file, a forbidding policy: one fault, built-in forecasts', FAULTS, async ({ onStream }) => {
    const seen = await onStream({ segmentCount: 5, segmentSeconds: 1 }, async (manifest) => {
      const path = '/leo-abr.onnx.js';
      const { createOnnxForecaster }: typeof onnx = await import(path);
      const urls = { modelUrl: 'model.onnx', runtimeUrl: 'ort.mjs', wasmUrl: 'ort.wasm' };
      const fault = async (wrong: object) => {
        const forecaster = createOnnxForecaster({ ...urls, ...wrong });
        for (;;) {
          try {
            forecaster.latest(0);
          } catch (error) {
            return (error as Error).message;
          }
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      };
      const missing = createOnnxForecaster({ ...urls, modelUrl: 'missing.onnx' });
      const { video, decisions, faults } = window.lab.start({ manifest, options: { forecasters: [missing] } });
      const others = await Promise.all(
        [
          { modelUrl: 'page.onnx' },
          { workerUrl: 'missing.js' },
          { workerUrl: 'https://other.example/leo-abr.onnx-worker.js' },
          { runtimeUrl: 'missing.mjs' },
          { workerUrl: 'stricter/leo-abr.onnx-worker.js' },
        ].map(fault),
      );
      await window.lab.until('the end', () => video.ended);
      return { faults: faults.map(({ code, message, cause }) => `${code}: ${message}: ${cause}`), decisions, others };
    });
    expect(seen.faults).toEqual([
      expect.stringMatching(/^forecaster-failed: the forecaster onnx failed: .*missing.onnx.* got status 404/),
    ]);
    expect(seen.decisions).toHaveLength(5);
    expectBuiltInForecasts(seen.decisions);
    const [page, worker, foreign, runtime, policy] = seen.others;
    expect(page).toContain('page.onnx: model: expected an ONNX file');
    expect(worker).toMatch(/^model\.onnx: .*missing\.js could not be started/);
    expect(foreign).toContain('other.example');
    expect(runtime).toContain('missing.mjs');
    expect(policy).toMatch(/wasm/i);
  });
});
