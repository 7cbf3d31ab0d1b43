/**
 * Checks what Shaka's documentation asks of an `AbrManager` (externs/shaka/abr_manager.js). Shaka's own manager passes,
 * too (`createLeoAbrFactory` replaced by `() => new shaka.abr.SimpleAbrManager()`). No source is loaded.
 */

import type shaka5 from 'shaka-player';
import { CHANGE } from '../builds.ts';
import { describePlayers, expect, FAULTS, isOlder, test } from './playback-test.ts';

type Manager = shaka5.extern.AbrManager;
type ContractVariant = shaka5.extern.Variant;

/** Runs in the page. Lists the checks that fail, with what they got. */
async function findings(): Promise<string[]> {
  const shaka = window.shaka as typeof shaka5;
  const wait = (seconds: number) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  const audio = { id: 90, type: 'audio', language: 'en', roles: [], bandwidth: 1e5, segmentIndex: null };
  const variantOf = (id: number, bandwidth: number, height: number, more = {}) => {
    const picture = { bandwidth: bandwidth - 1e5, height, width: (height * 16) / 9, segmentIndex: null };
    const video = { id: id + 10, originalId: `v${id}`, type: 'video', ...picture, ...more };
    return { id, bandwidth, audio, video } as unknown as ContractVariant;
  };
  const LADDER = [variantOf(0, 5e5, 180), variantOf(1, 1.5e6, 360), variantOf(2, 4e6, 720)];
  const open: (() => void)[] = [];
  /** Makes a manager with a source and with these settings of `abr`. */
  const make = (settings: object = {}, variants: ContractVariant[] = LADDER, width = 1600) => {
    const player = new shaka.Player();
    const factory = window.LeoAbr.createLeoAbrFactory(player, { logger: null, abandon: false });
    player.configure({ abrFactory: factory });
    const manager: Manager = factory();
    const video = document.createElement('video');
    const resize = (to: number) => {
      video.style.cssText = `width: ${to}px; height: ${(to * 9) / 16}px`;
    };
    resize(width);
    document.body.append(video);
    const heights: (number | null | undefined)[] = [];
    const how: unknown[] = [];
    manager.init(
      (variant, ...more) => {
        heights.push(variant.video!.height);
        how.push(more);
      },
      () => {},
    );
    manager.configure({ ...player.getConfiguration().abr, ...settings });
    manager.setMediaElement(video);
    manager.setVariants(variants, false);
    open.push(() => {
      manager.release();
      video.remove();
    });
    const hear = (bps: number, count = 10) => {
      for (let i = 0; i < count; i++) manager.segmentDownloaded(1000, bps / 8, true);
    };
    return { manager, heights, how, resize, hear };
  };
  const heightOf = (variant: ContractVariant | null) => variant?.video?.height;
  const found: string[] = [];
  const check = (what: string, got: unknown, wanted: unknown) => {
    if (JSON.stringify(got) !== JSON.stringify(wanted)) found.push(`${what}: ${JSON.stringify(got)}`);
  };

  {
    const { manager, heights, hear } = make();
    manager.chooseVariant();
    manager.trySuggestStreams();
    hear(3e6);
    check('no switch before enable()', heights.length, 0);
    manager.enable();
    manager.trySuggestStreams();
    check('a suggestion after enable()', heights.length > 0, true);
    heights.length = 0;
    manager.disable();
    manager.trySuggestStreams();
    hear(3e5);
    check('no switch after disable()', heights.length, 0);
    manager.enable();
    check('a suggestion at the next enable()', heights.length > 0, true);
    heights.length = 0;
    manager.stop();
    manager.trySuggestStreams();
    check('no switch after stop()', heights.length, 0);
    check('no variant after stop()', manager.chooseVariant(), null);
  }
  {
    const fast = variantOf(3, 2e6, 360, { fastSwitching: true });
    const { manager } = make({}, [...LADDER, fast]);
    check('fast switching if preferred', manager.chooseVariant(true) === fast, true);
    check('no fast switching by default', manager.chooseVariant() === fast, false);
    check('usual ones if there are no fast ones', heightOf(make().manager.chooseVariant(true)) !== undefined, true);
  }
  {
    const { manager, hear } = make({ defaultBandwidthEstimate: 123e3, useNetworkInformation: false });
    check('the first estimate', manager.getBandwidthEstimate(), 123e3);
    hear(3e6);
    check('the estimate in Mbit/s', Math.round(manager.getBandwidthEstimate() / 1e5) / 10, 3);
  }
  {
    const { manager, hear } = make();
    manager.chooseVariant();
    manager.enable();
    hear(12e6, 16);
    check('samples without a request raise the choice', heightOf(manager.chooseVariant())! > 180, true);
    manager.segmentDownloaded(1000, 1e6, false);
    const isNews = [LADDER, [...LADDER], LADDER.slice(0, 2)].map((variants) => manager.setVariants(variants, false));
    check('only other variants are news', isNews, [false, false, true]);
  }
  /** The chosen height after measurements of 12 Mbit/s. */
  const chosen = (...given: Parameters<typeof make>) => {
    const { manager, hear } = make(...given);
    hear(12e6, 16);
    return heightOf(manager.chooseVariant());
  };
  const { restrictions } = new shaka.Player().getConfiguration().abr;
  const restricted = [{ maxHeight: 200 }, { minHeight: 700 }, { maxBandwidth: 1 }].map((one) =>
    chosen({ restrictions: { ...restrictions, ...one } }),
  );
  check('restrictions', restricted, [180, 720, 180]);
  const equal = [variantOf(0, 1e6, 360), variantOf(1, 1e6, 720), variantOf(2, 1e6, 540)];
  const ofElement = { restrictToElementSize: true, ignoreDevicePixelRatio: true };
  check('the higher resolution of equal bandwidths', chosen({}, equal), 720);
  check('also before any measurement', heightOf(make({}, equal).manager.chooseVariant()), 720);
  check('but not of a larger picture than the element', chosen(ofElement, equal, 640), 360);
  {
    const { manager, how } = make({ clearBufferSwitch: true, safeMarginSwitch: 3 });
    manager.chooseVariant();
    manager.enable();
    manager.trySuggestStreams();
    check('clears the buffer beyond the margin', how.at(-1), [true, 3]);
  }
  {
    const { manager, heights } = make();
    manager.chooseVariant();
    manager.enable();
    heights.length = 0;
    const { connection } = navigator as unknown as { connection: EventTarget };
    connection.dispatchEvent(new Event('change'));
    check('a suggestion when the network changes', heights.length > 0, true);
    manager.disable();
    heights.length = 0;
    connection.dispatchEvent(new Event('change'));
    check('none of them when disabled', heights.length, 0);
  }
  {
    const { manager, heights, resize, hear } = make(ofElement);
    await wait(0.2);
    hear(30e6, 16);
    manager.chooseVariant();
    manager.enable();
    await wait(1.5);
    heights.length = 0;
    resize(320);
    await wait(1.5);
    check('the element shrinks', heights.at(-1), 180);
    heights.length = 0;
    resize(1600);
    await wait(1.5);
    check('the element grows', heights.length > 0 && heights.at(-1)! > 180, true);
  }
  for (const close of open) close();
  return found;
}

describePlayers([['Shaka 5'], ['Shaka 4']] as const, (playerName) => {
  test("the plugin's manager keeps the contract", isOlder(playerName) ? {} : CHANGE, async ({ labPage }) => {
    await labPage.setViewportSize({ width: 1920, height: 1080 });
    expect(await labPage.evaluate(findings)).toEqual([]);
  });

  test(
    'a source that the browser plays itself causes one fault; then the plugin decides',
    FAULTS,
    async ({ onStream }) => {
      const seen = await onStream({}, async (manifest) => {
        const lab = await window.lab.startShaka();
        const { player, handle, faults, decisions } = lab;
        // Two samples of silence.
        const wave = 'data:audio/wav;base64,UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==';
        for (let i = 0; i < 2; i++) await player.load(wave, null, 'audio/wav');
        const quiet = [player.getLoadMode(), handle.state.status, decisions.length];
        await player.load(manifest);
        await window.lab.until('decisions', () => decisions.length > 2, lab);
        return { quiet, messages: faults.map(({ code, message }) => `${code}: ${message}`) };
      });
      expect(seen.quiet).toEqual([3, 'inactive', 0]);
      expect(seen.messages).toEqual(['unsupported-stream: the browser plays this source itself (src=)']);
    },
  );
});
