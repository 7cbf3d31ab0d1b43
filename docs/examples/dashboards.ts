/** A session's arm, quality, faults and bits in other dashboards (docs/trials.md). */

import type { MediaPlayerClass } from 'dashjs';
import type { CMCDControllerConfig } from 'hls.js';
import type { LeoAbrHandle } from 'leo-abr';
import type { SessionReport, SessionReports } from 'leo-abr/trial';

/** The whole session, measured alike in all arms. */
const ofReport = ({ arm = 'none', perceivedQoe = 0, faults = '', receivedBits = 0 }: SessionReport) => {
  return { arm, quality: Math.round(perceivedQoe), faults: faults || 'none', bits: receivedBits };
};

/** Custom dimensions of Mux Data. Call `reportSessions` before `mux.monitor`, so that the report comes first. */
export function toMux(
  reports: SessionReports,
  mux: { updateData(to: HTMLElement, data: object): void },
  to: HTMLElement,
) {
  reports.on('session', (report) => {
    const { arm, quality, faults, bits } = ofReport(report);
    mux.updateData(to, { custom_1: arm, custom_2: String(quality), custom_3: faults, custom_4: String(bits) });
  });
}

/** One JSON object per session to any server. */
export function toBeacon(reports: SessionReports, url: string) {
  reports.on('session', (report) => navigator.sendBeacon(url, JSON.stringify(ofReport(report))));
}

/** CMCD keys of your own domain with the session so far; quality is what the latest decision expects. */
export function cmcdKeys(arm: string, leoAbr?: LeoAbrHandle) {
  const { decision, faults = [], requestedBits = 0 } = leoAbr?.state ?? {};
  const { expectedQoe = 0 } = decision?.candidates?.[decision.representation] ?? {};
  return {
    'com.example-arm': arm,
    'com.example-bits': requestedBits,
    'com.example-faults': faults.length,
    'com.example-quality': Math.round(Math.max(0, expectedQoe)),
  };
}

const withKeys = (body: string, keys: object) => {
  const text = Object.entries(keys)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join();
  return body.replace(/.+/g, (report) => `${text},${report}`);
};

/** hls.js has an interface for it. The setting `cmcd` of the player: */
export const hlsCmcd = (url: string, keys: () => ReturnType<typeof cmcdKeys>, leoAbr: LeoAbrHandle) => {
  const includeKeys = ['e', 'ts', 'sid', 'sta', ...Object.keys(keys())] as CMCDControllerConfig['includeKeys'] & {};
  const cmcd: CMCDControllerConfig = {
    ...{ version: 2, eventTargets: [{ url, events: ['t', 'ps'], interval: 10, includeKeys }] },
    reporterCallback: (reporter) => leoAbr.on('decision', () => reporter.updateCustomData(keys())),
  };
  return cmcd;
};

/** dash.js has none, but its interceptors see the reports of `streaming.cmcd.eventTargets`. */
export function dashCmcd(player: MediaPlayerClass, keys: () => object) {
  player.addRequestInterceptor(async (request) => {
    const isReport = (request.customData as { request?: { type?: string } })?.request?.type === 'CmcdEvent';
    return isReport ? Object.assign(request, { body: withKeys(String(request.body), keys()) }) : request;
  });
}

type Filter = (type: number, request: { uris: string[]; body: ArrayBuffer | ArrayBufferView | null }) => void;
type ShakaPlayer = { getNetworkingEngine(): { registerRequestFilter(filter: Filter): void } | null };

/** So do Shaka's request filters. Shaka 5.2.12 passes no type of request, so the URL tells. */
export function shakaCmcd(player: ShakaPlayer, url: string, keys: () => object) {
  player.getNetworkingEngine()?.registerRequestFilter((_, request) => {
    if (request.uris[0] !== url || !request.body) return;
    request.body = new TextEncoder().encode(withKeys(new TextDecoder().decode(request.body), keys()));
  });
}
