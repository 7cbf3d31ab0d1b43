/** Which live downloads say something about the link, and what. */

import type { Download } from '../../abr/index.ts';
import type { LiveFlight } from './live-flight.ts';

/** The latest kept rates whose harmonic mean a bounded rate has to reach. */
const KNOWN_RATES = 5;

/**
 * The download without the waits for the encoder. Its rate is a lower bound then, because the request's latency weighs
 * more: undefined if it would lower the estimate.
 */
export function measuredDownload(
  flight: LiveFlight,
  download: Download,
  known: readonly Download[],
): Download | undefined {
  const waitedSeconds = flight.waitedSeconds(download.requestedAtSeconds + download.downloadSeconds);
  if (waitedSeconds === 0) return download;
  const onLink = { ...download, downloadSeconds: download.downloadSeconds - waitedSeconds };
  const latest = known.slice(-KNOWN_RATES);
  const secondsPerBit = latest.reduce(
    (sum, { downloadSeconds, receivedBits }) => sum + downloadSeconds / receivedBits,
    0,
  );
  return onLink.downloadSeconds / onLink.receivedBits <= secondsPerBit / latest.length || latest.length === 0
    ? onLink
    : undefined;
}
