/** The address of a prediction service: as people type it, and whether this page may ask there at all. */

/**
 * As it is asked, without a slash at its end; `http` where no scheme is given, empty for none. Throws with what was expected where
 * it is no such address.
 */
export function parseServiceAddress(text: string): string {
  const typed = text.trim();
  if (typed === '') return '';
  // In `localhost:8790` the first part is no scheme.
  const url = urlOf(/^[a-z][a-z\d+.-]*:(?!\d)/i.test(typed) ? typed : `http://${typed}`);
  const isAddress =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    [url.search, url.hash, url.username, url.password].every((part) => part === '');
  if (!isAddress)
    throw new Error(`expected the address of a prediction service like http://127.0.0.1:8790, got “${typed}”`);
  return url.href.replace(/\/+$/, '');
}

/** Browsers keep a page that came over https from asking for http, but on the same machine. */
export function needsTls(address: string, pageUrl: string): boolean {
  const { protocol, hostname } = new URL(address);
  return pageUrl.startsWith('https:') && protocol === 'http:' && !isLoopback(hostname);
}

/** A name that the service has to be told of (`--allow-host`): neither an address nor one that stays on this machine. */
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

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127\./.test(hostname);
}
