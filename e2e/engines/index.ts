/** The engines beside Chromium that this machine has. */

import type { EngineBrowser } from './engine.ts';
import { findFirefox, startFirefox } from './firefox.ts';
import { findOldChromium, startOldChromium } from './old-chromium.ts';
import { findWebKit, startWebKit } from './webkit.ts';

export { toEs2018 } from './old-chromium.ts';

export const ENGINES = ['firefox', 'webkit', 'chromium-68', 'chromium-72'] as const;
export type Engine = (typeof ENGINES)[number];

/** Old engines lack H.264. */
export const isOld = (engine: Engine | undefined) => /^chromium/.test(engine ?? '');

/** Commands for Debian. GStreamer's plug-ins play the media in WebKit. */
const GSTREAMER = ['libav', 'plugins-good', 'plugins-bad'].map((name) => `gstreamer1.0-${name}`).join(' ');
const INSTALL: Record<string, string> = {
  firefox: 'apt-get install firefox-esr',
  webkit: `apt-get install webkit2gtk-driver xvfb ${GSTREAMER}`,
};

/** Says why the engine cannot be used here. Undefined if it can. */
export function whatIsMissing(engine: Engine): string | undefined {
  return starterOf(engine) ? undefined : `no ${engine} here: ${INSTALL[engine] ?? 'npm run engines:old'}`;
}

export function startEngine(engine: Engine): Promise<EngineBrowser> {
  const start = starterOf(engine);
  if (start) return start();
  throw new Error(whatIsMissing(engine));
}

function starterOf(engine: Engine): (() => Promise<EngineBrowser>) | undefined {
  const [firefox, webkit, old] = [findFirefox(), findWebKit(), findOldChromium(engine)];
  if (engine === 'firefox') return firefox ? () => startFirefox(firefox) : undefined;
  if (engine === 'webkit') return webkit && (() => startWebKit(webkit));
  return old ? () => startOldChromium(old) : undefined;
}
