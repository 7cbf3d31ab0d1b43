/** Talks to the paced origin (replay/origin): what it has, and a session per player. */

import type { SizesFile } from 'leo-abr';
import type { PublishedLink } from '../replay/origin/published-link.ts';
import type { OwnAlgorithm } from '../replay/own-algorithm.ts';
import type { OriginAddress } from './server/replay-origin.ts';

/** A trace that sessions can replay, as `GET /traces` lists it. */
export interface TraceListing {
  name: string;
  dataset: string;
  recordingGroup: string;
  durationSeconds: number;
  /** Its UTC is known, and with it where its handovers are. */
  hasClock: boolean;
  location?: string;
}

export interface SessionSpec {
  trace: string;
  scenario: string;
  startSeconds: number;
}

export interface OriginSession {
  id: string;
  /** Its folder, with a slash at its end. */
  url: string;
  link: PublishedLink;
  sizes: SizesFile;
}

/** The origin did not answer, or not as an origin does. */
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
  /** Without a slash at its end. */
  readonly url: string;
  /** Of the user's own. */
  readonly algorithms: readonly OwnAlgorithm[];

  constructor(url: string, algorithms: readonly OwnAlgorithm[] = []) {
    this.url = url;
    this.algorithms = algorithms;
  }

  /** Asks the page's own server where the origin is. */
  static async find(): Promise<OriginClient> {
    const address = await answerOf(new URL('origin.json', document.baseURI).href);
    const { url, algorithms } = address as OriginAddress;
    // From another machine only the page's own server can be reached; it answers for the origin too.
    const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);
    return new OriginClient(isHere ? url : location.origin, algorithms);
  }

  async traces(): Promise<TraceListing[]> {
    return (await answerOf(`${this.url}/traces`)) as TraceListing[];
  }

  /** Hands a trace in; gives its parts. Rejects with the reason where there is something wrong in it. */
  async addTrace(upload: { file: string; text: string; sidecar?: string }): Promise<TraceListing[]> {
    return (await answerOf(`${this.url}/traces`, {
      method: 'POST',
      body: JSON.stringify(upload),
    })) as TraceListing[];
  }

  /**
   * As many sessions as there are players, each with a link and a clock of its own. Rejects with the reason where the
   * origin refuses one; none is left then.
   */
  async createSessions(spec: SessionSpec, count: number): Promise<OriginSession[]> {
    const created = await Promise.allSettled(Array.from({ length: count }, () => this.#createSession(spec)));
    const sessions = created.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failure = created.find((one) => one.status === 'rejected');
    if (failure === undefined) return sessions;
    await this.removeSessions(sessions);
    throw failure.reason;
  }

  async #createSession(spec: SessionSpec): Promise<OriginSession> {
    const { id } = (await answerOf(`${this.url}/session`, {
      method: 'POST',
      body: JSON.stringify(spec),
    })) as { id: string };
    const url = `${this.url}/session/${id}/`;
    try {
      const [link, sizes] = await Promise.all([answerOf(`${url}link`), answerOf(`${url}sizes.json`)]);
      return { id, url, link: link as PublishedLink, sizes: sizes as SizesFile };
    } catch (error) {
      await this.removeSessions([{ id }]);
      throw error;
    }
  }

  /** Never rejects: an origin that is gone has forgotten them anyway. */
  async removeSessions(sessions: readonly { id: string }[]): Promise<void> {
    await Promise.allSettled(sessions.map(({ id }) => fetch(`${this.url}/session/${id}`, { method: 'DELETE' })));
  }

  async isAlive(): Promise<boolean> {
    try {
      await answerOf(`${this.url}/traces`);
      return true;
    } catch {
      return false;
    }
  }
}

async function answerOf(url: string, init: RequestInit = {}): Promise<unknown> {
  let response: Response;
  let body: unknown;
  try {
    response = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWERS_WITHIN_MS), cache: 'no-store' });
    body = await response.json();
  } catch (error) {
    throw new OriginLostError(url, error);
  }
  if (response.ok) return body;
  throw new Error(String((body as { error?: unknown }).error ?? `${url} answered ${response.status}`));
}
