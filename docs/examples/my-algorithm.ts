/**
 * An algorithm of one's own: the highest bitrate that leaves a reserve in the buffer if the link stays as it was.
 * Copy this file, change `decide`, and compare (docs/own-algorithm.md):
 *
 *     npx leo-abr simulate --traces replay/traces --scenario hd-16 --starts every:61 \
 *       --algorithms mpc-d,mpc-l,docs/examples/my-algorithm.ts --out mine.json
 */

import type { Controller, Decision, Download, PlayerState } from 'leo-abr';

/** Seconds of media that shall be left when a download ends. */
const RESERVE_SECONDS = 3;
/** The throughput is the harmonic mean of this many downloads: slow ones count most. */
const DOWNLOADS = 5;

/** Called once per session: what is kept in here belongs to one session. `seed` is for whatever is random. */
export function createController(_options: { seed: number }): Controller {
  return {
    name: 'my-algorithm',

    /** Called before each segment. Everything is in seconds and bits; the forecast (second argument) is not used. */
    decide(state: PlayerState): Decision {
      const { ladderBps, upcomingSizesBits, bufferLevelSeconds, downloads } = state;
      const throughputBps = harmonicMeanBps(downloads.slice(-DOWNLOADS));
      // Sizes of the segment to decide on, one per representation; [1] would be those of the segment after it.
      const sizesBits = upcomingSizesBits[0] ?? [];
      let representation = 0;
      for (const [candidate, sizeBits] of sizesBits.entries()) {
        const leftSeconds = bufferLevelSeconds - sizeBits / throughputBps;
        if (leftSeconds >= RESERVE_SECONDS) representation = candidate;
      }
      return {
        // An index into `ladderBps`, which is ascending.
        representation,
        controller: 'my-algorithm',
        // Shown in results, the demo and the browser's log.
        reason:
          `${(ladderBps[representation]! / 1e6).toFixed(1)} Mbit/s on ${(throughputBps / 1e6).toFixed(1)} Mbit/s ` +
          `with ${bufferLevelSeconds.toFixed(1)} s in the buffer`,
      };
    },

    // Optional: reconsider(state, inFlight, forecast) is called ten times a second during a download. It returns 'keep',
    // or a decision for another representation, and the download is given up for that.
  };
}

/** 0 where nothing has been measured. */
function harmonicMeanBps(downloads: readonly Download[]): number {
  const secondsPerBit = downloads.map(({ downloadSeconds, receivedBits }) => downloadSeconds / receivedBits);
  return secondsPerBit.length / secondsPerBit.reduce((sum, one) => sum + one, 0) || 0;
}
