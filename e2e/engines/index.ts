/** The engines beside Chromium that this machine has. */

import type { EngineBrowser } from './engine.ts';
import { findFirefox, startFirefox } from './firefox.ts';
import { findWebKit, startWebKit } from './webkit.ts';

export const ENGINES = ['firefox', 'webkit'] as const;
export type Engine = (typeof ENGINES)[number];

/** What Debian's packages are called; GStreamer's plug-ins play the media in WebKit. */
const PACKAGES: Record<Engine, string> = {
  firefox: 'firefox-esr',
  webkit: 'webkit2gtk-driver xvfb gstreamer1.0-libav gstreamer1.0-plugins-good gstreamer1.0-plugins-bad',
};

/** Why the engine cannot be used here, or undefined. */
export function whatIsMissing(engine: Engine): string | undefined {
  const found = engine === 'firefox' ? findFirefox() : findWebKit();
  return found ? undefined : `no ${engine} here; on Debian: apt-get install ${PACKAGES[engine]}`;
}

export function startEngine(engine: Engine): Promise<EngineBrowser> {
  const [firefox, webkit] = [findFirefox(), findWebKit()];
  if (engine === 'firefox' && firefox) return startFirefox(firefox);
  if (engine === 'webkit' && webkit) return startWebKit(webkit);
  throw new Error(whatIsMissing(engine));
}
