/** Loads a trial's configuration. */

import { check, isFrom } from '../../abr/errors.ts';
import type { Logger } from '../../session/page/event-types.ts';
import { attempt } from '../../session/page/events.ts';
import { MAX_BYTES, type TrialConfig, validConfig } from '../trial-config.ts';

export interface ConfigSource {
  /** A `TrialConfig`, or the URL of its JSON (16 kB at most): by https, of the page's own origin, or of localhost. */
  config: string | URL | TrialConfig;
  /** Longest wait for the configuration in seconds, 0 to 10. Default 0.3. */
  configSeconds?: number | undefined;
  /** Receives the reason if a configuration cannot be used. `null` receives none. Default `console`. */
  logger?: Logger | null | undefined;
  /** If `false`, the page keeps no configuration for later sessions. Default true. */
  storage?: boolean;
}

const KEPT_MS = 86_400_000;
const STORAGE_KEY = 'leo-abr-trial';

/**
 * Resolves to the configuration after at most `configSeconds`. If it is unreachable, late or invalid, resolves to the
 * address's last good configuration of the last day, or else to undefined. Rejects with an `InputError` for an invalid
 * address or time.
 */
export async function loadConfig({ config, configSeconds = 0.3, logger = console, storage = true }: ConfigSource) {
  check(isFrom(configSeconds, 0, 10), 'trial.configSeconds', 'a number from 0 to 10', configSeconds);
  const url = typeof config === 'string' || config instanceof URL ? allowedUrl(config) : '';
  const current = (async () => {
    try {
      const good = validConfig(url ? await fetchJson(url) : config);
      const kept = JSON.stringify({ url, atMs: Date.now(), config: good });
      if (storage) attempt(() => localStorage.setItem(STORAGE_KEY, kept));
      return good;
    } catch (error) {
      attempt(() => logger?.warn('leo-abr: the configuration of the trial is not usable', error));
      return undefined;
    }
  })();
  // A late configuration is kept for the next session.
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, 1000 * configSeconds));
  return (await Promise.race([current, late])) || (storage ? attempt(() => lastGood(url)) : undefined);
}

function allowedUrl(given: string | URL): string {
  const base = attempt(() => document.baseURI);
  const { origin, hostname = '', protocol, href = '' }: Partial<URL> = attempt(() => new URL(given, base)) || {};
  const isLocal = origin === attempt(() => location.origin) || /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
  const isAllowed = protocol === 'https:' || (protocol === 'http:' && isLocal);
  check(isAllowed, 'trial.config', "a URL with https, or of the page's own origin", given);
  return href;
}

async function fetchJson(url: string): Promise<unknown> {
  // The browser asks the CDN whether its copy has changed.
  const response = await fetch(url, { cache: 'no-cache', credentials: 'omit', redirect: 'error' });
  check(response.ok, url, 'status 200', response.status);
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let part: ReadableStreamReadResult<Uint8Array>;
  do {
    part = await reader.read();
    text += decoder.decode(part.value, { stream: !part.done });
  } while (!part.done && text.length <= MAX_BYTES);
  // The body may be endless.
  await reader.cancel();
  check(text.length <= MAX_BYTES, url, `at most ${MAX_BYTES} bytes`, text.length);
  return JSON.parse(text);
}

function lastGood(wanted: string): TrialConfig | undefined {
  const { url, atMs, config } = JSON.parse(localStorage.getItem(STORAGE_KEY)!);
  const ageMs = Date.now() - atMs;
  return url === wanted && ageMs >= 0 && ageMs < KEPT_MS ? validConfig(config) : undefined;
}
