/** hls.js's CMCD, with the plugin's keys in it. */

import type { HlsConfig, LoaderContext } from 'hls.js';
import type { Adaptation } from '../core/adaptation.ts';

type LoaderClass = HlsConfig['loader'];

/**
 * With the option `cmcd`, turns CMCD on where the page has not, and puts loaders with the plugin's keys inside those
 * that hls.js's controller of CMCD makes: it is made after the ABR controller. Returns a function that restores.
 */
export function installCmcd(config: HlsConfig, adaptation: Adaptation): () => void {
  if (!adaptation.options.cmcd) return () => {};
  const { cmcd, fLoader, pLoader, loader } = config;
  const withKeys = (pageLoader: unknown = loader) =>
    class extends (pageLoader as LoaderClass) {
      override load(context: LoaderContext, ...more: [never, never]): void {
        context.url = adaptation.withCmcd(context.url, context.headers);
        super.load(context, ...more);
      }
    };
  Object.assign(config, { cmcd: cmcd ?? {}, fLoader: withKeys(fLoader), pLoader: withKeys(pLoader) });
  return () => {
    if (!cmcd) Object.assign(config, { cmcd, fLoader, pLoader });
  };
}
