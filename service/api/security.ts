/**
 * Who may talk to the service. A page on any site can send requests to addresses of its visitor's network, so: the Host
 * header must not be a name that somebody else's DNS could point here (DNS rebinding), pages of other origins must be on
 * a list, and where a token is set it has to be sent.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';

export interface SecurityOptions {
  /** Names beside `localhost` and IP addresses that the Host header may have, lower case, without a port. */
  allowedHosts: readonly string[];
  /** Origins (`https://player.example`) beside those on loopback. */
  allowedOrigins: readonly string[];
  /** Bearer token; undefined: none is asked for. */
  token?: string | undefined;
}

/**
 * Whether a Host header names this service. Addresses always do: rebinding needs a name. `localhost` and names below it
 * never leave the machine.
 */
export function isHostAllowed(header: string | undefined, { allowedHosts }: SecurityOptions): boolean {
  if (header === undefined) return false;
  const host = hostnameOf(`http://${header}`);
  if (host === undefined) return false;
  return isIP(unbracketed(host)) !== 0 || isLocalhost(host) || allowedHosts.includes(host);
}

/** Whether a page of this origin may read and write. */
export function isOriginAllowed(origin: string, { allowedOrigins }: SecurityOptions): boolean {
  if (allowedOrigins.includes(origin)) return true;
  const host = /^https?:\/\//.test(origin) ? hostnameOf(origin) : undefined;
  return host !== undefined && isLoopback(host);
}

/** Compared as digests, so that the time taken says neither where they differ nor how long the token is. */
export function isTokenRight(header: string | undefined, token: string): boolean {
  const given = /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(given), digest(token)) && given.length > 0;
}

/** An address of this machine, or a name that browsers resolve to one. */
export function isLoopback(host: string): boolean {
  return isLocalhost(host) || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Latitude and longitude to a tenth of a degree, about 10 km: enough for satellites, too little to find a house. */
export function roundedDegrees(degrees: number): number {
  return Math.round(degrees * 10) / 10;
}

function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

function hostnameOf(url: string): string | undefined {
  try {
    const { hostname, username, pathname, search, hash } = new URL(url);
    // `Host: localhost@evil` and the like.
    return username === '' && pathname === '/' && search === '' && hash === '' ? hostname : undefined;
  } catch {
    return undefined;
  }
}

function unbracketed(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
