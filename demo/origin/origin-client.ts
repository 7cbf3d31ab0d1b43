/** Client of the paced origin (replay/origin): its traces, and a session per player. */

import type { SizesFile } from 'leo-abr';
import { isLoopback } from '../../predictor/service-client/needs-tls.ts';
import type { PublishedLink } from '../../replay/origin/published-link.ts';
import type { OwnAlgorithm } from '../../replay/own-algorithm.ts';
import type { DemoChoice } from '../choice/choice.ts';
import type { OriginAddress } from '../server/replay-origin.ts';
import { startWorker } from './worker-origin.ts';

export interface TraceListing {
  name: string;
  dataset: string;
  recordingGroup: string;
  durationSeconds: number;
  /** Whether the UTC of the trace is known, and with it the handovers. */
  hasClock: boolean;
  /** The viewer's own: no scenario scales it. */
  keepsRates?: boolean;
  location?: string;
}

export interface TraceUpload {
  file: string;
  text: string;
  sidecar?: string;
}

export type WireSessionSpec = Omit<DemoChoice, 'players' | 'isShared'> & { link?: string };

export interface OriginSession {
  id: string;
  /** URL of the session's folder, with a slash at its end. */
  url: string;
  link: PublishedLink;
  sizes: SizesFile;
}

/** The origin did not answer, or its answer was no JSON. */
export class OriginLostError extends Error {
  override readonly name = 'OriginLostError';

  constructor(
    readonly url: string,
    cause: unknown,
  ) {
    super(`${url} does not answer`, { cause });
  }
}

const ANSWERS_WITHIN_MS = 5000;

export class OriginClient {
  /** `url` has no slash at its end. `algorithms` are the user's own. `isWorker`: the origin is this page's worker. */
  constructor(
    readonly url: string,
    readonly algorithms: readonly OwnAlgorithm[] = [],
    readonly isWorker = false,
  ) {}

  /** Asks the page's own server where the origin is. If the origin is a worker, starts it. */
  static async find(): Promise<OriginClient> {
    const address = await answerOf(new URL('origin.json', document.baseURI).href);
    const { url, worker, algorithms } = address as OriginAddress;
    if (url === undefined) return new OriginClient(await startWorker(worker!), algorithms, true);
    // A page on another machine reaches only the page's own server, which answers for the origin, too.
    return new OriginClient(isLoopback(location.hostname) ? url : location.origin, algorithms);
  }

  async traces(): Promise<TraceListing[]> {
    return (await answerOf(`${this.url}/traces`)) as TraceListing[];
  }

  /** Uploads a trace. Resolves with its parts; rejects with the reason if the trace is invalid. */
  async addTrace(upload: TraceUpload): Promise<TraceListing[]> {
    return (await answerOf(`${this.url}/traces`, upload)) as TraceListing[];
  }

  /** Creates sessions on one link and clock, or each on its own copy. Rejects with the origin's reason. */
  async createSessions(spec: WireSessionSpec, count: number, isShared: boolean): Promise<OriginSession[]> {
    const first = await this._createSession(spec);
    const others = { ...spec, ...(isShared && { link: first.id }) };
    return [first, ...(await Promise.all(Array.from({ length: count - 1 }, () => this._createSession(others))))];
  }

  private async _createSession(spec: WireSessionSpec): Promise<OriginSession> {
    const { id } = (await answerOf(`${this.url}/session`, spec)) as { id: string };
    const url = `${this.url}/session/${id}/`;
    const [link, sizes] = await Promise.all([answerOf(`${url}link`), answerOf(`${url}sizes.json`)]);
    return { id, url, link: link as PublishedLink, sizes: sizes as SizesFile };
  }

  async isAlive(): Promise<boolean> {
    return (await this.traces().catch(() => undefined)) !== undefined;
  }
}

async function answerOf(url: string, body?: object): Promise<unknown> {
  let response: Response;
  let answer: unknown;
  try {
    const post = body && { method: 'POST', body: JSON.stringify(body) };
    response = await fetch(url, { ...post, signal: AbortSignal.timeout(ANSWERS_WITHIN_MS), cache: 'no-store' });
    answer = await response.json();
  } catch (error) {
    throw new OriginLostError(url, error);
  }
  if (response.ok) return answer;
  throw new Error(String((answer as { error?: unknown }).error ?? `${url} answered ${response.status}`));
}
