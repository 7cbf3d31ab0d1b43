/** `leo-abr collect`: receives the session reports of pages with the plugin, and appends them to files. */

import { Command } from 'commander';
import { startCollector } from '../service/index.ts';
import type { CommandIo } from './command-io.ts';
import { collect, positiveNumber } from './options.ts';
import {
  addListenOptions,
  interrupted,
  listening,
  originOption,
  portOption,
  proxyOption,
  tokenOption,
} from './serve-options.ts';
import { serviceLog } from './service-log.ts';

const DEFAULT_PORT = 8791;

interface CollectFlags {
  out: string;
  host: string;
  port: string;
  allowHost: string[];
  allowOrigin: string[];
  trustProxy: string[];
  tokenFile?: string;
  maxMb: string;
  rate: string;
}

export function collectCommand(io: CommandIo): Command {
  return addListenOptions(new Command('collect'), DEFAULT_PORT)
    .description('receive the session reports of pages, and append them to files by day')
    .requiredOption('--out <folder>', 'folder of the files')
    .option('--allow-host <name>', 'host name in requests, besides IP addresses (repeatable)', collect, [])
    .option('--allow-origin <origin>', 'origin of pages that may report, besides loopback (repeatable)', collect, [])
    .option('--trust-proxy <address|cidr>', 'proxy whose X-Forwarded-For names the client (repeatable)', collect, [])
    .option('--token-file <file>', 'file with the token that requests must send, as a bearer or in ?token=')
    .option('--max-mb <n>', 'refuse reports beyond this size of all files, in MB', '10000')
    .option('--rate <n>', 'reports per second from one address', '20')
    .action((flags: CollectFlags) => collectReports(flags, io));
}

async function collectReports(flags: CollectFlags, io: CommandIo): Promise<void> {
  const log = serviceLog(io.stderr);
  const perSecond = positiveNumber(flags.rate, '--rate');
  const running = await listening(
    {
      directory: flags.out,
      maxBytes: positiveNumber(flags.maxMb, '--max-mb') * 1e6,
      host: flags.host,
      port: portOption(flags.port),
      allowedHosts: flags.allowHost,
      allowedOrigins: flags.allowOrigin.map(originOption),
      trustedProxies: flags.trustProxy.map(proxyOption),
      token: flags.tokenFile === undefined ? undefined : tokenOption(flags.tokenFile),
      limits: { rate: { perSecond, burst: 10 * perSecond } },
      onFault: (error: Error) => log.error(error),
      log,
    },
    startCollector,
  );
  log.info(`the collector is at ${running.url}/v1/reports`);
  await interrupted(io);
  await running.close();
  log.info(`${running.accepted} reports are in ${flags.out}`);
}
