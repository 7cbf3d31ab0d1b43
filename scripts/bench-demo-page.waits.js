/**
 * For how long a thread was kept from running, because others had the processors: on a busy machine tasks are long by the clock
 * that are short by themselves. Others are threads of this machine (its scheduler knows how long one waited) and, where it is
 * virtual, other machines (steal time of the processor that the thread is on, in steps of 10 ms). Of Linux, read every few ms;
 * elsewhere nothing is known.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const PERIOD_MS = 5;
/** Looked up a minute later at most, and across a look. */
const KEPT_SECONDS = 150;
/** Of times in /proc/stat (`USER_HZ`). */
const TICKS_PER_SECOND = 100;

/** Watches the main thread of a process until stop(); undefined where there is no such thing. */
export function watchWaits(pid) {
  const files = [];
  try {
    for (const path of [`/proc/${pid}/task/${pid}/schedstat`, `/proc/${pid}/task/${pid}/stat`, '/proc/stat']) {
      files.push(openSync(path));
    }
  } catch {
    for (const file of files) closeSync(file);
    return undefined;
  }
  // Of /proc/stat the processors come first: room for some hundreds.
  const buffer = Buffer.alloc(65_536);
  const textOf = (file) => buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0));
  /** `[at, ran, waited, stolen]` in s: of the monotonic clock, which is the browser's, and in all by then. */
  let readings = [];
  /** Steal of each processor by the last reading, in s. */
  let steal = {};
  let stolenSeconds = 0;
  const read = () => {
    let scheduled;
    let processor;
    let stealNow;
    try {
      scheduled = textOf(files[0]);
      // Behind the name, which may hold spaces: the 39th field of proc(5), the first behind it being the 3rd.
      processor = textOf(files[1]).split(') ').at(-1).split(' ')[36];
      stealNow = stealOf(textOf(files[2]));
    } catch {
      return clearInterval(timer); // the process has ended
    }
    stolenSeconds += (stealNow[processor] ?? 0) - (steal[processor] ?? stealNow[processor] ?? 0);
    steal = stealNow;
    const atSeconds = Number(process.hrtime.bigint()) / 1e9;
    const [ran, waited] = scheduled.split(' ');
    readings.push([atSeconds, Number(ran) / 1e9, Number(waited) / 1e9, stolenSeconds]);
    if (readings.length > (2 * KEPT_SECONDS * 1000) / PERIOD_MS) readings = readings.slice(readings.length / 2);
  };
  const timer = setInterval(read, PERIOD_MS);
  read();

  const totalsBy = (seconds) => {
    let [low, high] = [0, readings.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (readings[middle][0] <= seconds) low = middle;
      else high = middle;
    }
    const [[from, ...before], [to, ...after]] = [readings[low], readings[high]];
    const share = to > from ? Math.min(1, Math.max(0, (seconds - from) / (to - from))) : 0;
    return before.map((one, i) => one + share * (after[i] - one));
  };
  return {
    /**
     * s between two times of the clock, to within a period at either end. What other machines took while the thread waited
     * for a processor counts once, and never is time in which it ran.
     */
    between(fromSeconds, toSeconds) {
      const before = totalsBy(fromSeconds);
      const [ran, waited, stolen] = totalsBy(toSeconds).map((by, i) => by - before[i]);
      const neither = Math.max(0, toSeconds - fromSeconds - ran - waited);
      return { ranSeconds: ran, waitedSeconds: waited, stolenSeconds: Math.min(stolen, neither) };
    },
    stop() {
      clearInterval(timer);
      for (const file of files) closeSync(file);
    },
  };
}

/** For how many seconds other machines have had this one's processors, in all; 0 where nobody knows. */
export function stealSeconds() {
  try {
    return Object.values(stealOf(readFileSync('/proc/stat', 'latin1'))).reduce((sum, one) => sum + one, 0);
  } catch {
    return 0;
  }
}

/** Of the text of /proc/stat: for how many seconds other machines have had each processor, by its number. */
function stealOf(text) {
  return Object.fromEntries(
    [...text.matchAll(/^cpu(\d+) (.*)$/gm)].map(([, processor, times]) => [
      processor,
      Number(times.split(' ')[7] ?? 0) / TICKS_PER_SECOND,
    ]),
  );
}
