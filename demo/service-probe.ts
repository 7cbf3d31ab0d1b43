/** Asks a prediction service for its state; if that fails, finds out why. */

import { describeValue } from '../abr/errors.ts';

/** The part of the service's state that the page shows. */
export interface ServiceAnswer {
  isThere: true;
  dish: {
    /** `online`, `obstructed`, ...: see `/v1/state`. */
    state: string;
    /** In the newest second. */
    latencyMs?: number;
    /** For people: the cause of an outage or of a failed connection. */
    detail?: string;
  };
}

export interface ServiceFailure {
  isThere: false;
  /**
   * `silent`: nothing answers. `closed`: the service does not allow the page's origin or the host name of the request,
   * so the page may not read its answers. `token`: the service requires a token. `stranger`: the server is no
   * prediction service. `failing`: the service answers with an error.
   */
  why: 'silent' | 'closed' | 'token' | 'stranger' | 'failing';
  /** What came instead of a state. */
  detail: string;
}

export type ServiceProbe = ServiceAnswer | ServiceFailure;

/** The part of `fetch` that is used here. */
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
      // `fetch` hides the reason. A no-cors request fails only if nothing answers.
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
    return isTimeout(error) ? failure('silent', 'an incomplete answer') : failure('stranger', 'no JSON');
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
