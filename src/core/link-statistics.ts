/**
 * Statistics of the link, per origin of a stream, kept in the browser between sessions. Nothing here throws if the
 * storage is full, blocked or has foreign content.
 */

/** What earlier sessions predict for the next. */
export interface LinkStatistics {
  /** Median throughput of downloads, bit/s. */
  medianBps: number;
  /** Standard deviation of ln(throughput), within and between sessions. */
  spread: number;
  /** Number of sessions. */
  sessions: number;
}

/** The part of `localStorage` that is used. */
export type StatisticsStorage = Pick<Storage, 'getItem' | 'setItem'>;

export const STORAGE_KEY = 'leo-abr';
const MAX_ORIGINS = 20;
/** Older statistics may be of another link. */
const MAX_AGE_DAYS = 30;
/** The past counts for at most this many sessions, so that new ones still matter. */
const MAX_WEIGHT = 4;
const MS_PER_DAY = 86_400_000;

/** Stored form; `day` is the UTC day of the last session, counted from 1970. */
type Entry = [medianBps: number, spread: number, sessions: number, day: number];

/** Returns the page's storage; throws if it is blocked. */
export type OpenStorage = () => StatisticsStorage | undefined;

export function loadStatistics(open: OpenStorage, origin: string): LinkStatistics | undefined {
  const entry = attempt(() => readEntries(open()))?.get(origin);
  return entry && { medianBps: entry[0], spread: entry[1], sessions: entry[2] };
}

export function saveStatistics(open: OpenStorage, origin: string, statistics: LinkStatistics): void {
  attempt(() => {
    const storage = open();
    const entries = readEntries(storage);
    const { medianBps, spread, sessions } = statistics;
    entries.set(origin, [Math.round(medianBps), Math.round(spread * 1000) / 1000, sessions, today()]);
    const newest = [...entries].sort(([, a], [, b]) => b[3] - a[3]).slice(0, MAX_ORIGINS);
    storage?.setItem(STORAGE_KEY, JSON.stringify(Object.fromEntries(newest)));
  });
}

/** Statistics after one more session; a difference from the past widens the spread. */
export function withSession(
  past: LinkStatistics | undefined,
  session: Omit<LinkStatistics, 'sessions'>,
): LinkStatistics {
  if (past === undefined) return { ...session, sessions: 1 };
  const weight = Math.min(past.sessions, MAX_WEIGHT);
  const share = 1 / (weight + 1);
  const change = Math.log(session.medianBps / past.medianBps);
  const variance = (1 - share) * past.spread ** 2 + share * session.spread ** 2 + share * (1 - share) * change ** 2;
  return {
    medianBps: past.medianBps * Math.exp(share * change),
    spread: Math.sqrt(variance),
    sessions: past.sessions + 1,
  };
}

function readEntries(storage: StatisticsStorage | undefined): Map<string, Entry> {
  const stored: unknown = attempt(() => JSON.parse(storage?.getItem(STORAGE_KEY) ?? '{}'));
  const entries = Object.entries(stored ?? {}).filter(
    (entry): entry is [string, Entry] => isEntry(entry[1]) && today() - entry[1][3] <= MAX_AGE_DAYS,
  );
  return new Map(entries);
}

function isEntry(value: unknown): value is Entry {
  if (!Array.isArray(value) || value.length !== 4 || !value.every(Number.isFinite)) return false;
  const [medianBps, spread, sessions, day] = value as Entry;
  return medianBps > 0 && spread >= 0 && spread < 10 && sessions >= 1 && day <= today() + 1;
}

function today(): number {
  return Math.floor(Date.now() / MS_PER_DAY);
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
