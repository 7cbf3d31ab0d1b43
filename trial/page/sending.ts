/** Sends reports, and keeps failed reports for the page's next visit. */

import { attempt } from '../../session/page/events.ts';
import type { SessionReport } from '../session-report.ts';

const STORAGE_KEY = 'leo-abr-reports';
const MOST_KEPT = 8;
/** A page that has been hidden for this long does not come back. */
const HIDDEN_MS = 10 * 60_000;

/** `hiddenAtMs` is when the page was hidden, if the report is not final. */
type Kept = { url: string; report: SessionReport; hiddenAtMs?: number | undefined };

export class Outbox {
  /** Sends the reports of earlier visits to this address once more, and drops the reports that fail again. */
  constructor(
    private readonly _url: string,
    private readonly _keeps: boolean,
  ) {
    if (!_keeps) return;
    const isDue = (one: Kept) => one.url === _url && Date.now() - (one.hiddenAtMs || 0) >= HIDDEN_MS;
    const all = kept();
    store(all.filter((one) => !isDue(one)));
    for (const { report } of all.filter(isDue)) void post(_url, report);
  }

  /** Sends a final report, and keeps it if it fails while the page is open. */
  send(report: SessionReport): void {
    this.forget(report.id);
    if (attempt(() => navigator.onLine) === false) this.keep(report);
    else void post(this._url, report).then((isAnswered) => isAnswered || this.keep(report));
  }

  /** Keeps a report for the next visit. Hidden pages call it, too, because browsers end them without notice. */
  keep(report: SessionReport, hiddenAtMs?: number): void {
    if (!this._keeps) return;
    this.forget(report.id);
    store([...kept(), { url: this._url, report, hiddenAtMs }].slice(-MOST_KEPT));
  }

  forget(id: string): void {
    if (this._keeps) store(kept().filter(({ report }) => report.id !== id));
  }
}

/** Whether the report has arrived: by `fetch` without cookies if it can outlive the page, else by a beacon. */
async function post(url: string, report: SessionReport): Promise<boolean> {
  const body = JSON.stringify(report);
  if (!attempt(() => 'keepalive' in Request.prototype)) return attempt(() => navigator.sendBeacon(url, body)) || false;
  try {
    // A text body needs no preflight.
    const headers = { 'content-type': 'text/plain' };
    const { status } = await fetch(url, { method: 'POST', body, headers, keepalive: true, credentials: 'omit' });
    return status < 500 && status !== 429 && status !== 408;
  } catch {
    return false;
  }
}

function kept(): Kept[] {
  const all: unknown = attempt(() => JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]'));
  return Array.isArray(all) ? all.filter((one) => typeof one?.report?.id === 'string') : [];
}

function store(all: readonly Kept[]): void {
  attempt(() =>
    all.length > 0 ? localStorage.setItem(STORAGE_KEY, JSON.stringify(all)) : localStorage.removeItem(STORAGE_KEY),
  );
}
