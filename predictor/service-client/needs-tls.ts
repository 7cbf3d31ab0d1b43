/** Browsers forbid an https page to send http requests, except to its own machine. */
export function needsTls(address: string | URL, pageUrl: string | undefined): boolean {
  const { protocol, hostname } = new URL(address);
  return !!pageUrl?.startsWith('https:') && protocol === 'http:' && !isLoopback(hostname);
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127\./.test(hostname);
}
