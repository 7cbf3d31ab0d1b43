/** After every fault playback goes on, and each fault is reported once. */

import { expect, highestRung, test } from './playback-test.ts';

test('a controller that throws or returns an invalid decision leaves video to dash.js', async ({ labPage, stream }) => {
  const seen = await labPage.evaluate(
    async (manifests) => {
      const throwing = {
        name: 'broken',
        decide(): never {
          throw new Error('out of order');
        },
      };
      const nonsense = { name: 'nonsense', decide: () => ({ representation: 99, controller: 'x', reason: 'y' }) };
      // A small buffer, so that decisions are spread over the session.
      const settings = { streaming: { buffer: { bufferTimeDefault: 4, bufferTimeAtTopQuality: 4 } } };
      const labs = [throwing, nonsense].map((controller, i) =>
        window.lab.start({ manifest: manifests[i]!, options: { controller }, settings }),
      );
      for (const lab of labs) await window.lab.until('the end', ({ video }) => video.ended, lab);
      return labs.map(({ decisions, requests, faults, handle }) => ({
        decided: decisions.length,
        requested: requests.map(({ representationId }) => representationId),
        faults: faults.map(({ code, message }) => ({ code, message })),
        known: handle.state.faults.length,
      }));
    },
    [1, 2].map(() => `${stream({ segmentCount: 8 })}manifest.mpd`),
  );
  expect(seen.map(({ decided }) => decided)).toEqual([0, 0]);
  expect(seen.map(({ known }) => known)).toEqual([1, 1]);
  expect(seen[0]!.faults).toEqual([{ code: 'controller-failed', message: 'the controller failed: out of order' }]);
  expect(seen[1]!.faults.map(({ code }) => code)).toEqual(['controller-failed']);
  // dash.js's throughput rule decides: it begins at 1 Mbit/s and switches up.
  for (const { requested } of seen) {
    expect(requested).toHaveLength(8);
    expect(highestRung(requested)).toBeGreaterThanOrEqual(2);
  }
});

test('a failing forecaster, time source, listener and sizes cause one fault each and nothing else', async ({
  labPage,
  stream,
}) => {
  const folder = stream({ segmentCount: 4 });
  const seen = await labPage.evaluate(async (folder) => {
    const fail = (): never => {
      throw new Error('no');
    };
    const { video, handle, decisions, requests, faults } = window.lab.start({
      manifest: `${folder}manifest.mpd`,
      options: {
        forecasters: [{ name: 'broken', start: fail, observe: fail, latest: fail }],
        timeSource: { now: fail },
        sizes: `${folder}no-such-file.json`,
      },
    });
    handle.on('decision', fail);
    await window.lab.until('the end', () => video.ended);
    return {
      codes: faults.map(({ code }) => code).sort(),
      decided: decisions.length,
      requested: requests.length,
      utc: decisions.map(({ state }) => state.utcMs === undefined),
    };
  }, folder);
  expect(seen.codes).toEqual(['forecaster-failed', 'listener-failed', 'sizes-unusable', 'time-source-failed']);
  expect(seen).toMatchObject({ decided: 4, requested: 4, utc: [true, true, true, true] });
});

test('another version of dash.js, a missing method, a second attachment: no change, and one fault', async ({
  labPage,
  stream,
}) => {
  const seen = await labPage.evaluate(
    async (manifest) => {
      const faultsOf = async (player: Parameters<typeof window.LeoAbr.attachLeoAbr>[0]) => {
        const warnings: string[] = [];
        const handle = window.LeoAbr.attachLeoAbr(player, { logger: { warn: (text) => warnings.push(text) } });
        const codes: string[] = [];
        handle.on('fault', ({ code }) => codes.push(code));
        await Promise.resolve();
        const { status } = handle.state;
        handle.detach();
        return { codes, warnings: warnings.length, status };
      };
      const { player, video, decisions, faults } = window.lab.start({});
      const rules = player.getABRCustomRules().length;
      const seen = [
        await faultsOf(Object.assign(Object.create(player), { getVersion: () => '4.7.4' })),
        await faultsOf(Object.assign(Object.create(player), { addABRCustomRule: undefined })),
        await faultsOf({} as typeof player),
        await faultsOf(player),
      ];
      const untouched = player.getABRCustomRules().length === rules;
      player.initialize(video, manifest, true);
      await window.lab.until('the end', () => video.ended);
      return { seen, untouched, decided: decisions.length, faults };
    },
    `${stream({ segmentCount: 3 })}manifest.mpd`,
  );
  const inactive = (code: string) => ({ codes: [code], warnings: 1, status: 'inactive' });
  expect(seen.seen).toEqual([
    inactive('unsupported-player'),
    inactive('unsupported-player'),
    inactive('unsupported-player'),
    inactive('already-attached'),
  ]);
  expect(seen).toMatchObject({ untouched: true, decided: 3, faults: [] });
});
