/** Browsers forbid https pages to send http requests, except to their own machine. */
export function needsTls(address: string | URL, pageUrl: string | undefined): boolean {
  const { protocol, hostname } = new URL(address);
  return !!pageUrl?.startsWith('https:') && protocol === 'http:' && !isLoopback(hostname);
}

/** Accepts loopback addresses and the names that browsers resolve to them. */
export function isLoopback(hostname: string): boolean {
  return /^((.*\.)?localhost|\[::1\]|::1|127(\.\d{1,3}){3})$/.test(hostname);
}
