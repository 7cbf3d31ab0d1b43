/**
 * Checks what Shaka's documentation asks of an `AbrManager` (externs/shaka/abr_manager.js). Shaka's own manager shows
 * that the checks are right. They run without a source, like Shaka's own tests.
 */

import type shaka5 from 'shaka-player';
import { describePlayers, expect, test } from './playback-test.ts';

type Manager = shaka5.extern.AbrManager;
type ContractVariant = shaka5.extern.Variant;

/** Runs in the page. Returns the result of each check. */
async function findings(isPlugin: boolean): Promise<Record<string, unknown>> {
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
    const factory = isPlugin
      ? window.LeoAbr.createLeoAbrFactory(player, { logger: null, abandon: false })
      : () => new shaka.abr.SimpleAbrManager();
    player.configure({ abrFactory: factory });
    const manager: Manager = factory();
    const video = document.createElement('video');
    const resize = (to: number) => {
      video.style.cssText = `width: ${to}px; height: ${(to * 9) / 16}px`;
    };
    resize(width);
    document.body.append(video);
    const switches: [height: number | null | undefined, ...how: unknown[]][] = [];
    const bans: unknown[] = [];
    manager.init(
      (variant, ...how) => void switches.push([variant.video!.height, ...how]),
      (...ban) => void bans.push(ban),
    );
    manager.configure({ ...player.getConfiguration().abr, ...settings });
    manager.setMediaElement(video);
    manager.setVariants(variants, false);
    open.push(() => {
      manager.release();
      video.remove();
    });
    const heights = () => switches.map(([height]) => height);
    const hear = (bps: number, count = 10) => {
      for (let i = 0; i < count; i++) manager.segmentDownloaded(1000, bps / 8, true);
    };
    return { manager, switches, heights, resize, hear };
  };
  const heightOf = (variant: ContractVariant | null) => variant?.video?.height;
  const found: Record<string, unknown> = {};

  {
    const { manager, switches, hear } = make();
    manager.chooseVariant();
    manager.trySuggestStreams();
    hear(3e6);
    found['no switch before enable()'] = switches.length;
    manager.enable();
    manager.trySuggestStreams();
    found['a suggestion after enable()'] = switches.length > 0;
    switches.length = 0;
    manager.disable();
    manager.trySuggestStreams();
    hear(3e5);
    found['no switch after disable()'] = switches.length;
    manager.enable();
    found['a suggestion at the next enable()'] = switches.length > 0;
    switches.length = 0;
    manager.stop();
    manager.trySuggestStreams();
    found['no switch after stop()'] = switches.length;
  }
  {
    const fast = variantOf(3, 2e6, 360, { fastSwitching: true });
    const { manager } = make({}, [...LADDER, fast]);
    found['fast switching if preferred'] = [manager.chooseVariant(true) === fast, manager.chooseVariant() === fast];
    found['usual ones if there are no fast ones'] = heightOf(make().manager.chooseVariant(true)) !== undefined;
  }
  {
    const { manager, hear } = make({ defaultBandwidthEstimate: 123e3, useNetworkInformation: false });
    const before = manager.getBandwidthEstimate();
    hear(3e6);
    found['the estimate'] = [before, Math.round(manager.getBandwidthEstimate() / 1e5) / 10];
  }
  {
    const { manager, hear } = make();
    manager.chooseVariant();
    manager.enable();
    hear(12e6, 16);
    found['samples without a request raise the choice'] = heightOf(manager.chooseVariant())! > 180;
    manager.segmentDownloaded(1000, 1e6, false);
    found['the same variants are no news'] = [LADDER, [...LADDER]].map((same) => manager.setVariants(same, false));
    found['others are'] = manager.setVariants(LADDER.slice(0, 2), false);
  }
  /** The chosen height after measurements of 12 Mbit/s. */
  const chosen = (...given: Parameters<typeof make>) => {
    const { manager, hear } = make(...given);
    hear(12e6, 16);
    return heightOf(manager.chooseVariant());
  };
  const { restrictions } = new shaka.Player().getConfiguration().abr;
  found['restrictions'] = [{ maxHeight: 200 }, { minHeight: 700 }, { maxBandwidth: 1 }].map((one) =>
    chosen({ restrictions: { ...restrictions, ...one } }),
  );
  const equal = [variantOf(0, 1e6, 360), variantOf(1, 1e6, 720), variantOf(2, 1e6, 540)];
  const ofElement = { restrictToElementSize: true, ignoreDevicePixelRatio: true };
  found['the higher resolution of equal bandwidths'] = chosen({}, equal);
  found['but not of a larger picture than the element'] = chosen(ofElement, equal, 640);
  {
    const { manager, switches } = make({ clearBufferSwitch: true, safeMarginSwitch: 3 });
    manager.chooseVariant();
    manager.enable();
    manager.trySuggestStreams();
    found['clearBufferSwitch, safeMarginSwitch'] = switches.at(-1)?.slice(1);
  }
  {
    const { manager, switches } = make();
    manager.chooseVariant();
    manager.enable();
    switches.length = 0;
    const { connection } = navigator as unknown as { connection: EventTarget };
    connection.dispatchEvent(new Event('change'));
    found['a suggestion when the network changes'] = switches.length > 0;
    manager.disable();
    switches.length = 0;
    connection.dispatchEvent(new Event('change'));
    found['none of them when disabled'] = switches.length;
  }
  {
    const { manager, heights, switches, resize, hear } = make(ofElement);
    await wait(0.2);
    hear(30e6, 16);
    manager.chooseVariant();
    manager.enable();
    await wait(1.5);
    switches.length = 0;
    resize(320);
    await wait(1.5);
    found['the element shrinks'] = heights().at(-1);
    switches.length = 0;
    resize(1600);
    await wait(1.5);
    found['the element grows'] = switches.length > 0 && heights().at(-1)! > 180;
  }
  for (const close of open) close();
  return found;
}

describePlayers([['Shaka 5'], ['Shaka 4']] as const, () => {
  for (const isPlugin of [false, true]) {
    test(`${isPlugin ? "the plugin's" : "Shaka's own"} manager keeps the contract`, async ({ labPage }) => {
      await labPage.setViewportSize({ width: 1920, height: 1080 });
      expect(await labPage.evaluate(findings, isPlugin)).toEqual({
        'no switch before enable()': 0,
        'a suggestion after enable()': true,
        'no switch after disable()': 0,
        'a suggestion at the next enable()': true,
        'no switch after stop()': 0,
        'fast switching if preferred': [true, false],
        'usual ones if there are no fast ones': true,
        'the estimate': [123e3, 3],
        'samples without a request raise the choice': true,
        'the same variants are no news': [false, false],
        'others are': true,
        restrictions: [180, 720, 180],
        'the higher resolution of equal bandwidths': 720,
        'but not of a larger picture than the element': 360,
        'clearBufferSwitch, safeMarginSwitch': [true, 3],
        'a suggestion when the network changes': true,
        'none of them when disabled': 0,
        'the element shrinks': 180,
        'the element grows': true,
      });
    });
  }
});
