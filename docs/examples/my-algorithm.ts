/**
 * An example of your own algorithm: the highest bitrate that leaves a reserve in the buffer if the throughput stays.
 * Copy this file, change `decide`, and compare (docs/own-algorithm.md):
 *
 *     npx --no leo-abr simulate --traces replay/traces --scenario hd-16 --starts every:61 \
 *       --algorithms mpc-d,mpc-l,docs/examples/my-algorithm.ts --out mine.json
 */

import type { Controller, Decision, Download, PlayerState } from 'leo-abr';

/** Buffer level to keep at the end of a download. */
const RESERVE_SECONDS = 3;
/** The throughput is the harmonic mean of this many downloads, in which slow ones count most. */
const DOWNLOADS = 5;

/** Called once per session, so that its state belongs to one session. Use `seed` for random numbers. */
export function createController(_options: { seed: number }): Controller {
  return {
    name: 'my-algorithm',

    /** Called before each segment. All values are in seconds and bits. The second argument, a forecast, is not used. */
    decide(state: PlayerState): Decision {
      const { ladderBps, upcomingSizesBits, bufferLevelSeconds, downloads } = state;
      const throughputBps = harmonicMeanBps(downloads.slice(-DOWNLOADS));
      // Sizes of the next segment, one per representation; [1] has those of the segment after it.
      const sizesBits = upcomingSizesBits[0] ?? [];
      let representation = 0;
      for (const [candidate, sizeBits] of sizesBits.entries()) {
        const leftSeconds = bufferLevelSeconds - sizeBits / throughputBps;
        if (leftSeconds >= RESERVE_SECONDS) representation = candidate;
      }
      return {
        // Index into `ladderBps`, which is ascending.
        representation,
        controller: 'my-algorithm',
        // Shown in results, the demo and the browser's log.
        reason:
          `${(ladderBps[representation]! / 1e6).toFixed(1)} Mbit/s on ${(throughputBps / 1e6).toFixed(1)} Mbit/s ` +
          `with ${bufferLevelSeconds.toFixed(1)} s in the buffer`,
      };
    },

    // Optional: reconsider(state, inFlight, forecast) is called ten times a second during a download. It returns
    // 'keep', or a decision for another representation, for which the download is then abandoned.
  };
}

/** 0 before the first download. */
function harmonicMeanBps(downloads: readonly Download[]): number {
  const secondsPerBit = downloads.map(({ downloadSeconds, receivedBits }) => downloadSeconds / receivedBits);
  return secondsPerBit.length / secondsPerBit.reduce((sum, one) => sum + one, 0) || 0;
}
