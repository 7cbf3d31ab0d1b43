/** Asks a prediction service how it is, and finds out why where it does not say. */

import { describeValue } from '../abr/errors.ts';

/** What the page shows of a service that answers. */
export interface ServiceAnswer {
  isThere: true;
  dish: {
    /** One of the service's names of states: `online`, `obstructed`, ... */
    state: string;
    /** Of the newest second. */
    latencyMs?: number;
    /** For a person: the cause of an outage, why it cannot be reached. */
    detail?: string;
  };
}

export interface ServiceFailure {
  isThere: false;
  /**
   * `silent`: nothing answers. `closed`: something does, but the page may not read it: its origin or the name that it asks
   * by is not on the service's list. `token`: it wants one. `stranger`: what answers is no prediction service.
   * `failing`: it answers with an error of its own.
   */
  why: 'silent' | 'closed' | 'token' | 'stranger' | 'failing';
  /** What came instead of an answer. */
  detail: string;
}

export type ServiceProbe = ServiceAnswer | ServiceFailure;

/** What is needed of `fetch`. */
export type Fetch = (
  url: string,
  init: { mode?: 'no-cors'; cache: 'no-store'; signal: AbortSignal },
) => Promise<Pick<Response, 'ok' | 'status' | 'json'>>;

const ANSWERS_WITHIN_MS = 3000;

/** `address` as of `parseServiceAddress`. Never rejects. */
export async function probeService(
  address: string,
  ask: Fetch = (url, init) => fetch(url, init),
): Promise<ServiceProbe> {
  const init = () => ({ cache: 'no-store' as const, signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) });
  let response: Awaited<ReturnType<Fetch>>;
  try {
    response = await ask(`${address}/v1/state`, init());
  } catch (error) {
    if (isTimeout(error)) return failure('silent', `no answer within ${ANSWERS_WITHIN_MS / 1000} s`);
    try {
      // A page is not told what went wrong. A request whose answer it may not read fails only where there is none.
      await ask(`${address}/healthz`, { ...init(), mode: 'no-cors' });
      return failure('closed', 'an answer that this page may not read');
    } catch {
      return failure('silent', 'no answer');
    }
  }
  const { ok, status } = response;
  if (status === 401) return failure('token', 'status 401');
  if (status >= 500 || status === 429) return failure('failing', `status ${status}`);
  if (!ok) return failure('stranger', `status ${status}`);
  let state: unknown;
  try {
    state = await response.json();
  } catch (error) {
    return isTimeout(error) ? failure('silent', 'half an answer') : failure('stranger', 'no JSON');
  }
  return answerOf(state);
}

function answerOf(state: unknown): ServiceProbe {
  const dish: unknown = (state as { dish?: unknown } | null)?.dish;
  const { state: name, latencyMs, detail } = (dish ?? {}) as Record<string, unknown>;
  if (typeof name !== 'string') {
    return failure('stranger', `/v1/state: dish.state: expected a string, got ${describeValue(name)}`);
  }
  return {
    isThere: true,
    dish: {
      state: name,
      ...(typeof latencyMs === 'number' && { latencyMs }),
      ...(typeof detail === 'string' && { detail }),
    },
  };
}

function failure(why: ServiceFailure['why'], detail: string): ServiceFailure {
  return { isThere: false, why, detail };
}

function isTimeout(error: unknown): boolean {
  return (error as { name?: unknown } | null)?.name === 'TimeoutError';
}
