/**
 * For how long a thread was kept from running, because others had the processors: on a busy machine tasks are long by the clock
 * that are short by themselves. Of Linux's scheduler, read every few ms; elsewhere nothing is known.
 */
import { closeSync, openSync, readSync } from 'node:fs';

const PERIOD_MS = 5;
/** Looked up a minute later at most, and across a look. */
const KEPT_SECONDS = 150;

/** Watches the main thread of a process until stop(); undefined where there is no such thing. */
export function watchWaits(pid) {
  let file;
  try {
    file = openSync(`/proc/${pid}/task/${pid}/schedstat`);
  } catch {
    return undefined;
  }
  const buffer = Buffer.alloc(128);
  /** `[at, waited]` in s: of the monotonic clock, which is the browser's, and in all by then. */
  let readings = [];
  const read = () => {
    let text;
    try {
      text = buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0));
    } catch {
      return clearInterval(timer); // the process has ended
    }
    const atSeconds = Number(process.hrtime.bigint()) / 1e9;
    readings.push([atSeconds, Number(text.split(' ')[1]) / 1e9]);
    if (readings.length > (2 * KEPT_SECONDS * 1000) / PERIOD_MS) readings = readings.slice(readings.length / 2);
  };
  const timer = setInterval(read, PERIOD_MS);
  read();

  const waitedBy = (seconds) => {
    let [low, high] = [0, readings.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (readings[middle][0] <= seconds) low = middle;
      else high = middle;
    }
    const [[from, before], [to, after]] = [readings[low], readings[high]];
    const share = to > from ? Math.min(1, Math.max(0, (seconds - from) / (to - from))) : 0;
    return before + share * (after - before);
  };
  return {
    /** s between two times of the clock, to within a period at either end. */
    between: (fromSeconds, toSeconds) => waitedBy(toSeconds) - waitedBy(fromSeconds),
    stop() {
      clearInterval(timer);
      closeSync(file);
    },
  };
}
