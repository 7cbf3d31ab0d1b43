/** Flags for addresses, start, interrupt and close of the commands that listen on a port. */

import { isIP } from 'node:net';
import type { Command } from 'commander';
import { check, InputError } from '../../abr/errors.ts';
import { placeOf } from '../../replay/formats/place.ts';
import type { ServiceOptions } from '../../service/index.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { EXIT_LINES_LOST, ExitWith } from '../shared/exit-status.ts';
import { collect, wholeNumber } from '../shared/options.ts';
import { readInput } from '../shared/results-file.ts';

export function addListenOptions(command: Command, defaultPort: number): Command {
  const host = 'address to listen on; any other than 127.0.0.1 opens it to the network';
  return command
    .option('--host <address>', host, '127.0.0.1')
    .option('--port <n>', 'port to listen on, 0 for any free one', String(defaultPort));
}

export type AccessFlags = Record<'host' | 'port', string> &
  Record<'allowHost' | 'allowOrigin' | 'trustProxy', string[]> & { tokenFile?: string };

/** Adds the options of `addListenOptions` and the options of access. */
export function addAccessOptions(command: Command, defaultPort: number): Command {
  const proxy = 'proxy whose X-Forwarded-For names the client (repeatable); default: the header is ignored';
  return addListenOptions(command, defaultPort)
    .option('--allow-host <name>', 'host name in requests, besides IP addresses (repeatable)', collect, [])
    .option('--allow-origin <origin>', 'origin of pages that may use it, besides loopback (repeatable)', collect, [])
    .option('--trust-proxy <address|cidr>', proxy, collect, [])
    .option('--token-file <file>', 'file with the bearer token that requests must send');
}

export function accessOf({ host, port, allowHost, allowOrigin, trustProxy, tokenFile }: AccessFlags) {
  return {
    host,
    port: portOption(port),
    allowedHosts: allowHost.map(hostOption),
    allowedOrigins: allowOrigin.map(originOption),
    trustedProxies: trustProxy.map(proxyOption),
    token: tokenFile === undefined ? undefined : tokenOption(tokenFile),
  };
}

/** Starts a server. Throws an `InputError` of `--host` or `--port` for an address that it cannot listen on. */
export async function listening<Options extends { host?: string; port: number }, Running>(
  options: Options,
  start: (options: Options) => Promise<Running>,
): Promise<Running> {
  try {
    return await start(options);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const refusal = LISTEN_ERRORS[code ?? ''];
    if (refusal === undefined) throw error;
    throw new InputError(...refusal, undefined, `${options.host ?? ''} ${options.port} (${code})`);
  }
}

const LISTEN_ERRORS: Readonly<Record<string, readonly [field: string, expected: string]>> = {
  EADDRINUSE: ['--port', 'a port that is free'],
  EACCES: ['--port', 'a port that this user may listen on'],
  EADDRNOTAVAIL: ['--host', 'an address of this machine'],
  ENOTFOUND: ['--host', 'an address of this machine'],
};

/** Resolves at Ctrl-C or SIGTERM. */
export function interrupted(io: CommandIo): Promise<void> {
  return new Promise((resolve) => void io.onInterrupt(resolve));
}

/** Closes the server. If lines of the recording were lost, it reports them and ends the command with a status. */
export async function closed(running: { close(): Promise<void> }, io: CommandIo): Promise<void> {
  await running.close().catch((error: Error) => {
    if (error.name !== 'LostLinesError') throw error;
    io.stderr.write(`${error.message}\n`);
    throw new ExitWith(EXIT_LINES_LOST);
  });
}

export function portOption(text: string): number {
  return wholeNumber(text, '--port', { max: 65535 });
}

function hostOption(text: string): string {
  const url = URL.canParse(`http://${text}`) ? new URL(`http://${text}`) : undefined;
  if (url?.hostname === text.toLowerCase()) return url.hostname;
  throw new InputError('--allow-host', 'a host name like service.example, without a scheme or port', text);
}

function originOption(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // `new URL` accepts paths and default ports, which browsers leave out of an origin.
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text;
  check(isOrigin, '--allow-origin', 'an origin like https://player.example, without a path', text);
  return text;
}

/** Accepts an IP address, or a network in CIDR notation other than `/0`, which is all addresses. */
function proxyOption(text: string): string {
  const [address = '', prefix = '1', ...rest] = text.split('/');
  const most = isIP(address) === 4 ? 32 : 128;
  const isPrefix = /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= most && rest.length === 0;
  const expected = 'an address like 127.0.0.1, or a network like 10.0.0.0/8';
  check(isIP(address) !== 0 && isPrefix, '--trust-proxy', expected, text);
  return text;
}

export function dishAddressOption(text: string): string {
  const [, port] = /^(?:[\w.-]+|\[[\da-f:.]+\]):(\d{1,5})$/i.exec(text) ?? [];
  const isPort = Number(port) >= 1 && Number(port) <= 65535;
  check(isPort, '--dish', 'a host and a port like 192.168.100.1:9200, or simulated', text);
  return text;
}

/** Parses degrees north and east, such as `48.1,11.6`. */
export function locationOption(text: string): NonNullable<ServiceOptions['location']> {
  const degrees = text.split(',').map((part) => (/^[-+]?\d+(\.\d+)?$/.test(part.trim()) ? Number(part) : Number.NaN));
  const [latitudeDegrees = Number.NaN, longitudeDegrees = Number.NaN] = degrees;
  const isOnEarth = Math.abs(latitudeDegrees) <= 90 && Math.abs(longitudeDegrees) <= 180;
  check(degrees.length === 2 && isOnEarth, '--location', 'degrees north and degrees east, like 48.1,11.6', text);
  return { latitudeDegrees, longitudeDegrees };
}

const MOST_TOKEN_BYTES = 2 ** 20;
const SHORTEST_TOKEN = 16;

/** Errors never show the token. */
function tokenOption(file: string): string {
  const field = '--token-file';
  const token = readInput(file, field, MOST_TOKEN_BYTES).trim();
  if (token.length < SHORTEST_TOKEN || !/^[\x21-\x7e]+$/.test(token)) {
    const expected = `one line of at least ${SHORTEST_TOKEN} letters, digits and signs`;
    throw new InputError(placeOf({ file, field }), expected, undefined, `${token.length} characters`);
  }
  return token;
}
