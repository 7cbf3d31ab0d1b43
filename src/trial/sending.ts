/** Sends reports, and keeps those that failed for the page's next visit. */

import { attempt } from '../core/attempt.ts';

const STORAGE_KEY = 'leo-abr-reports';
const MOST_KEPT = 8;
/** A page that has been hidden for this long does not come back. */
const HIDDEN_MS = 10 * 60_000;

interface Kept {
  url: string;
  id: string;
  line: string;
  /** The page was hidden, but was not over yet, at this time; absent if the report was final. */
  hiddenAtMs?: number;
}

/** Sends the reports of earlier visits to this address once more. Those that fail again are dropped. */
export function sendKept(url: string): void {
  const isDue = (one: Kept) =>
    one.url === url && !(one.hiddenAtMs !== undefined && Date.now() - one.hiddenAtMs < HIDDEN_MS);
  const all = kept();
  const due = all.filter(isDue);
  if (due.length === 0) return;
  store(all.filter((one) => !isDue(one)));
  for (const { line } of due) void post(url, line);
}

/** Sends a report. If it fails and the page is still there, it is kept. */
export function send(url: string, id: string, line: string): void {
  const failed = () => keep({ url, id, line });
  if (attempt(() => navigator.onLine) === false) failed();
  else void post(url, line).then((isAnswered) => isAnswered || failed());
}

/** Keeps the report so far of a page that is hidden: browsers end such pages without notice. Returns whether it could. */
export function keepHidden(url: string, id: string, line: string): boolean {
  keep({ url, id, line, hiddenAtMs: Date.now() });
  return kept().some((one) => one.id === id);
}

/** The page goes on, or its final report will be sent. Returns false if another page has sent what was kept. */
export function forgetHidden(id: string): boolean {
  const all = kept();
  const others = all.filter((one) => one.id !== id);
  if (others.length === all.length) return false;
  store(others);
  return true;
}

/**
 * Resolves to whether the report need not be sent again: it was accepted, or refused for what it says. `fetch` without
 * cookies where it outlives the page; otherwise a beacon, which has no answer.
 */
async function post(url: string, body: string): Promise<boolean> {
  if (!attempt(() => 'keepalive' in Request.prototype)) return attempt(() => navigator.sendBeacon(url, body)) ?? false;
  // Text needs no preflight.
  const headers = { 'content-type': 'text/plain' };
  try {
    const { ok, status } = await fetch(url, { method: 'POST', body, headers, keepalive: true, credentials: 'omit' });
    return ok || (status >= 400 && status < 500 && status !== 429 && status !== 408);
  } catch {
    return false;
  }
}

function keep(one: Kept): void {
  store([...kept().filter(({ id }) => id !== one.id), one].slice(-MOST_KEPT));
}

function kept(): Kept[] {
  const all: unknown = attempt(() => JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]'));
  const isOne = (one: Partial<Kept> | null) =>
    typeof one?.url === 'string' && typeof one.id === 'string' && typeof one.line === 'string';
  return Array.isArray(all) ? all.filter(isOne) : [];
}

function store(all: readonly Kept[]): void {
  attempt(() =>
    all.length > 0 ? localStorage.setItem(STORAGE_KEY, JSON.stringify(all)) : localStorage.removeItem(STORAGE_KEY),
  );
}
