/** Parses the address of a prediction service. */

import { isLoopback } from '../predictor/service-client/needs-tls.ts';

/** The base URL without a slash at its end; `http` if no scheme is given; empty for none. Throws if invalid. */
export function parseServiceAddress(text: string): string {
  const typed = text.trim();
  if (typed === '') return '';
  // `localhost:` in `localhost:8790` is no scheme.
  const url = urlOf(/^[a-z][a-z\d+.-]*:(?!\d)/i.test(typed) ? typed : `http://${typed}`);
  const isAddress =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    [url.search, url.hash, url.username, url.password].every((part) => part === '');
  if (!isAddress)
    throw new Error(`expected the address of a prediction service like http://127.0.0.1:8790, got “${typed}”`);
  return url.href.replace(/\/+$/, '');
}

/** Whether the host is a name that the service needs as `--allow-host`: neither an IP address nor this machine. */
export function isNamed(address: string): boolean {
  const { hostname } = new URL(address);
  return !hostname.startsWith('[') && !/^\d+(\.\d+){3}$/.test(hostname) && !isLoopback(hostname);
}

function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
