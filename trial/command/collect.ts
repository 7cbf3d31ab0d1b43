/** `leo-abr collect`: receives the session reports of pages with the plugin and appends them to files. */

import { Command } from 'commander';
import { type AccessFlags, accessOf, addAccessOptions, interrupted, listening } from '../../cli/serve/serve-options.ts';
import type { CommandIo } from '../../cli/shared/command-io.ts';
import { positiveNumber } from '../../cli/shared/options.ts';
import { requireWritable } from '../../cli/shared/results-file.ts';

export function collectCommand(io: CommandIo): Command {
  return addAccessOptions(new Command('collect'), 8791)
    .description('receive the session reports of pages, and append them to files by day')
    .requiredOption('--out <folder>', 'folder of the files')
    .option('--max-mb <n>', 'refuse reports beyond this size of all files, in MB', '10000')
    .option('--keep-days <n>', 'delete the reports of days that ended longer ago, at the start and once a day', '30')
    .option('--rate <n>', 'reports per second from one address', '20')
    .action((flags) => collectReports(flags, io));
}

type CollectFlags = AccessFlags & Record<'out' | 'maxMb' | 'keepDays' | 'rate', string>;

async function collectReports(flags: CollectFlags, io: CommandIo): Promise<void> {
  const { startCollector } = await import('../collector/collector.ts');
  const { serviceLog } = await import('../../cli/serve/service-log.ts');
  const log = serviceLog(io.stderr);
  const perSecond = positiveNumber(flags.rate, '--rate');
  const maxBytes = positiveNumber(flags.maxMb, '--max-mb') * 1e6;
  const keepDays = positiveNumber(flags.keepDays, '--keep-days');
  const limits = { rate: { perSecond, burst: 10 * perSecond } };
  const onFault = (error: Error) => log.error(error);
  const access = accessOf(flags);
  requireWritable(flags.out, 'folder');
  const options = { ...access, directory: flags.out, maxBytes, keepDays, limits, log, onFault };
  const running = await listening(options, startCollector);
  log.info(`the collector is at ${running.url}/v1/reports`);
  await interrupted(io);
  await running.close();
  log.info(`${running.accepted} reports are in ${flags.out}`);
}
