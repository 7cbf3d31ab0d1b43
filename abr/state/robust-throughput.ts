/**
 * RobustMPC's throughput: the harmonic mean of the last measurements, discounted by the largest of its last errors.
 *
 *   est_t = harmonic mean of the last <= 5 throughputs,  err_t = |est_{t-1} - C_t| / C_t  (first err = 0)
 *   C^    = est_t / (1 + max of the last <= 5 err)
 *
 * after Yin et al., SIGCOMM'15, with errors of the undiscounted mean, as in Pensieve's artifact.
 */

import type { Download } from '../controller.ts';

/** Measurements in a mean, and errors behind a discount. */
const WINDOW = 5;

/**
 * The estimate after these downloads, oldest first; undefined without a measurement. A measurement divides a segment's
 * bits by the time from its request to its last bit. Abandoned attempts at a segment and the download that replaced
 * them are one measurement, so that an outage counts once and with its whole duration. Downloads without bits or
 * duration are none.
 */
export function robustThroughput(downloads: readonly Download[]) {
  // Newest first. WINDOW errors need twice as many measurements, because each error compares with a mean of WINDOW.
  const secondsPerBit: number[] = [];
  for (let i = downloads.length - 1; i >= 0 && secondsPerBit.length < 2 * WINDOW; i--) {
    let { receivedBits: bits, downloadSeconds: seconds } = downloads[i]!;
    while (i > 0 && downloads[i - 1]!.abandoned && downloads[i - 1]!.segmentIndex === downloads[i]!.segmentIndex) {
      i--;
      bits += downloads[i]!.receivedBits;
      seconds += downloads[i]!.downloadSeconds;
    }
    if (bits > 0 && seconds > 0 && Number.isFinite(bits) && Number.isFinite(seconds))
      secondsPerBit.push(seconds / bits);
  }
  if (secondsPerBit.length === 0) return undefined;
  /** Harmonic mean of up to WINDOW measurements from `first` on. */
  const meanFrom = (first: number) => {
    const window = secondsPerBit.slice(first, first + WINDOW);
    return window.length / window.reduce((sum, value) => sum + value, 0);
  };
  let maxError = 0;
  for (let i = 0; i < Math.min(WINDOW, secondsPerBit.length - 1); i++) {
    // Error of the mean before measurement i: |est - C| / C with C = 1 / secondsPerBit[i].
    maxError = Math.max(maxError, Math.abs(meanFrom(i + 1) * secondsPerBit[i]! - 1));
  }
  const meanBps = meanFrom(0);
  return { meanBps, maxError, robustBps: meanBps / (1 + maxError) };
}
