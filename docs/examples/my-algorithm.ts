/**
 * An algorithm of your own: the highest bitrate whose segment arrives with 3 s of media left in the buffer.
 * Change `decide`, and compare it with others: docs/own-algorithm.md.
 */
import type { Controller } from 'leo-abr';

const sum = (values: number[]) => values.reduce((total, one) => total + one, 0);

/** Called once per session, with `{ seed }` for random numbers. */
export const createController = (): Controller => ({
  name: 'mine',
  /** Called before each segment, with seconds and bits. Beside it may be `reconsider`, to abandon downloads. */
  decide({ upcomingSizesBits: [sizesBits = []], bufferLevelSeconds, downloads }) {
    const recent = downloads.slice(-5);
    const bps = sum(recent.map((one) => one.receivedBits)) / sum(recent.map((one) => one.downloadSeconds)) || 0;
    const isInTime = (bits: number) => bufferLevelSeconds - bits / bps >= 3;
    const representation = Math.max(0, sizesBits.map(isInTime).lastIndexOf(true));
    return { representation, controller: 'mine', reason: `assumes ${(bps / 1e6).toFixed(1)} Mbit/s` };
  },
});
