/** `leo-abr serve`: the prediction service beside the dish. */

import { readFileSync, statSync } from 'node:fs';
import { Command } from 'commander';
import { InputError, quoted } from '../replay/formats/input-error.ts';
import type { CommandIo } from './command-io.ts';
import { TOOL_VERSION } from './tool.ts';

const DEFAULT_PORT = 8790;

interface ServeFlags {
  host: string;
  port: string;
  allowHost: string[];
  allowOrigin: string[];
  tokenFile?: string;
  tlsCert?: string;
  tlsKey?: string;
  printOpenapi?: boolean;
}

export function serveCommand(io: CommandIo): Command {
  return new Command('serve')
    .description('predict the link for every player behind it: HTTP and server-sent events')
    .option(
      '--host <address>',
      'address to listen on; beyond 127.0.0.1 others in the network can reach it',
      '127.0.0.1',
    )
    .option('--port <n>', 'port to listen on, 0 for any free one', String(DEFAULT_PORT))
    .option('--allow-host <name>', 'name that the service is reached by, beside addresses (repeatable)', collect, [])
    .option('--allow-origin <origin>', 'origin whose pages may use it, beside loopback (repeatable)', collect, [])
    .option('--token-file <file>', 'file with a bearer token that requests need')
    .option('--tls-cert <file>', 'certificate (PEM), for pages served over https')
    .option('--tls-key <file>', 'its key (PEM)')
    .option('--print-openapi', 'print the OpenAPI document of the service and end')
    .action((flags: ServeFlags) => serve(flags, io));
}

async function serve(flags: ServeFlags, io: CommandIo): Promise<void> {
  // The other commands do not wait for what only this one needs.
  const { openApiDocument, startService } = await import('../service/index.ts');
  if (flags.printOpenapi === true) {
    io.stdout.write(`${JSON.stringify(openApiDocument(TOOL_VERSION), null, 2)}\n`);
    return;
  }
  const running = await listening(
    {
      version: TOOL_VERSION,
      host: flags.host,
      port: portOption(flags.port),
      allowedHosts: flags.allowHost,
      allowedOrigins: flags.allowOrigin.map(originOption),
      token: flags.tokenFile === undefined ? undefined : tokenIn(flags.tokenFile),
      tls: tlsOption(flags),
      onFault: (error) => io.stderr.write(`fault: ${error.stack ?? error.message}\n`),
    },
    startService,
  );
  io.stderr.write(`the prediction service is at ${running.url}\n`);
  await interrupted(io);
  await running.close();
}

/** Starts something that listens; a place where it cannot is wrong input. */
export async function listening<Options extends { host?: string; port: number }, Running>(
  options: Options,
  start: (options: Options) => Promise<Running>,
): Promise<Running> {
  try {
    return await start(options);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const expected = LISTEN_ERRORS[code ?? ''];
    if (expected === undefined) throw error;
    throw new InputError({ field: '--port', expected, got: `${options.host ?? ''} ${options.port} (${code})` });
  }
}

const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'a port that is free',
  EACCES: 'a port that this user may listen on',
  EADDRNOTAVAIL: 'an address of this machine',
  ENOTFOUND: 'an address of this machine',
};

/** Resolves when the command is to end. */
export function interrupted(io: CommandIo): Promise<void> {
  return new Promise((resolve) => {
    io.onInterrupt(resolve);
  });
}

export function portOption(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65535) return port;
  throw new InputError({ field: '--port', expected: 'a whole number from 0 to 65535', got: quoted(text) });
}

function originOption(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // `new URL` adds what browsers leave out: a path, a default port.
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text) return text;
  const expected = 'an origin like https://player.example, without a path';
  throw new InputError({ field: '--allow-origin', expected, got: quoted(text) });
}

function tlsOption({ tlsCert, tlsKey }: ServeFlags): { cert: string; key: string } | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    const field = tlsCert === undefined ? '--tls-cert' : '--tls-key';
    throw new InputError({ field, expected: '--tls-cert and --tls-key together', got: 'one of them' });
  }
  return { cert: pemIn(tlsCert, '--tls-cert'), key: pemIn(tlsKey, '--tls-key') };
}

function pemIn(file: string, field: string): string {
  const text = textIn(file, field);
  if (text.includes('-----BEGIN ')) return text;
  throw new InputError({ file, field, expected: 'a PEM file', got: quoted(text.slice(0, 20)) });
}

const SHORTEST_TOKEN = 16;

/** The token is never shown, not even where it is wrong. */
function tokenIn(file: string): string {
  const field = '--token-file';
  const token = textIn(file, field).trim();
  if (token.length < SHORTEST_TOKEN || !/^[\x21-\x7e]+$/.test(token)) {
    const expected = `one line of at least ${SHORTEST_TOKEN} letters, digits and signs`;
    throw new InputError({ file, field, expected, got: `${token.length} characters` });
  }
  return token;
}

/** A text file of at most a mebibyte. */
export function textIn(file: string, field: string): string {
  try {
    if (statSync(file).size > 2 ** 20) {
      throw new InputError({ file, field, expected: 'at most 1 MiB', got: `${statSync(file).size} bytes` });
    }
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError({ field, expected: 'a readable file', got: `${file} (${(error as Error).message})` });
  }
}

function collect(value: string, values: string[]): string[] {
  return [...values, value];
}
