/** The collector of session reports: checks what pages post, and answers once it is in a file. */

import { randomUUID } from 'node:crypto';
import * as nodeFiles from 'node:fs/promises';
import { join } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import { parseSessionReport } from '../../abr/qoe/session-report.ts';
import { DEFAULT_LIMITS, HEALTH, listen, newHttpServer } from '../api/http-server.ts';
import { type Refusal, refusalLog, refuse } from '../api/refusals.ts';
import { type Clock, REAL_CLOCK } from '../clock.ts';
import { NO_LOG } from '../log.ts';
import { type AppendFiles, appendWhole, openFolder } from '../recording/whole-lines.ts';
import type { ServiceOptions } from '../start-service.ts';

/** As in the service. The log has refusals, without the addresses of clients. */
export interface CollectorOptions
  extends Pick<ServiceOptions, 'host' | 'port' | 'allowedHosts' | 'allowedOrigins' | 'token' | 'trustedProxies'>,
    Pick<ServiceOptions, 'limits' | 'clock' | 'log' | 'onFault'> {
  /** Folder of `reports-<UTC day>_<random>.ndjson`, which collectors may share. */
  directory: string;
  /** Limit of all files of reports in the folder. */
  maxBytes: number;
  /** Files are deleted this many days after theirs, at the start and once a day. Default: never. */
  keepDays?: number | undefined;
  files?: AppendFiles | undefined;
}

export type RunningCollector = Awaited<ReturnType<typeof startCollector>>;

export const REPORTS_PATH = '/v1/reports';
/** Beacons and requests without a preflight are text. */
const TYPES = ['text/plain', 'application/json', 'application/x-ndjson'];

/** A page sends a report and goes: its connection need not stay, but thousands may be open at once. */
const LIMITS = { ...DEFAULT_LIMITS, rate: { perSecond: 20, burst: 200 }, connections: 8192, keepAliveMs: 2000 };
/** A file is followed by another one at this size. */
const FILE_BYTES = 256e6;
/** Somebody may move files away: the folder is measured again after this time. */
const MEASURE_MS = 10_000;
const DAY_MS = 86_400_000;

/** Rejects if it cannot listen, or if the folder is unusable. */
export async function startCollector(options: CollectorOptions) {
  const { clock = REAL_CLOCK, allowedHosts = [], allowedOrigins = [], token, limits, log = NO_LOG } = options;
  await openFolder(options.directory);
  const folder = new ReportFiles({ ...options, clock });
  const { keepDays, onFault = () => {} } = options;
  const deleteOld = () => deleteBefore(options.directory, clock.utcMs() - keepDays! * DAY_MS);
  if (keepDays !== undefined) await deleteOld();
  const logRefusal = refusalLog(log, clock);
  const app = await newHttpServer(
    { ...options, security: { allowedHosts, allowedOrigins, token }, limits: { ...LIMITS, ...limits } },
    {
      clock,
      // Addresses are kept in memory only, for their rate.
      onRefusal: (refusal) => logRefusal({ ...refusal, address: 'a client' }),
      routes: `POST ${REPORTS_PATH} or GET ${HEALTH}`,
      hasQueryToken: true,
    },
  );
  /** `accepted`: reports in files since the start. */
  const running = { url: '', accepted: 0, close };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(TYPES, { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.post<{ Body: string | undefined }>(REPORTS_PATH, async ({ body }, reply) => {
    try {
      const lines = validLines(body);
      await folder.append(lines.join(''));
      running.accepted += lines.length;
      return reply.code(204).send();
    } catch (error) {
      return refuse(reply, refusalOf(error as Error));
    }
  });
  app.get(HEALTH, (_request, reply) => reply.type('text/plain').send('ok\n'));
  running.url = (await listen(app, options)).url;
  // If listening fails, no timer keeps the process alive.
  const timer = keepDays === undefined ? undefined : setInterval(() => void deleteOld().catch(onFault), DAY_MS);
  function close(): Promise<void> {
    clearInterval(timer);
    return app.close().then(() => folder.written);
  }
  return running;
}

/** The reports of a body, written anew; one wrong line refuses all. */
function validLines(body = ''): string[] {
  const lines = body.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new InputError('body', 'lines with a report each', body);
  return lines.map((line, i) => `${JSON.stringify(parseSessionReport(line, `line ${i + 1}`))}\n`);
}

function refusalOf(error: Error): Omit<Refusal, 'address'> {
  if (error instanceof InputError) return { status: 400, code: 'invalid-report', message: error.message };
  if (error instanceof FolderFullError) return { status: 507, code: 'full', message: error.message };
  return { status: 503, code: 'not-written', message: `the disk did not take it: ${error.message}` };
}

/** Deletes the files of reports of days that ended before a time. */
async function deleteBefore(directory: string, utcMs: number): Promise<void> {
  for (const name of await reportFiles(directory)) {
    const dayMs = Date.parse(name.slice(8, 18));
    if (dayMs + DAY_MS <= utcMs) await nodeFiles.rm(join(directory, name), { force: true });
  }
}

const reportFiles = async (directory: string) =>
  (await nodeFiles.readdir(directory)).filter((name) => /^reports-.*\.ndjson$/.test(name));

class FolderFullError extends Error {}

class ReportFiles {
  #file = { path: '', day: '', bytes: 0 };
  #folderBytes = 0;
  #measuredMs = Number.NEGATIVE_INFINITY;
  /** Resolves when all lines so far are in files or refused. */
  written: Promise<void> = Promise.resolve();

  constructor(private readonly options: CollectorOptions & { clock: Clock }) {}

  /** Resolves when the lines are in a file; rejects if none of them is, with a `FolderFullError` at the limit. */
  append(text: string): Promise<void> {
    const written = this.written.then(() => this.#append(Buffer.from(text)));
    this.written = written.catch(() => {});
    return written;
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const { directory, files = nodeFiles, clock, maxBytes } = this.options;
    if (clock.monotonicMs() - this.#measuredMs >= MEASURE_MS) await this.#measure();
    const isFull = this.#folderBytes + bytes.length > maxBytes;
    if (isFull) throw new FolderFullError(`expected less than ${maxBytes / 1e6} MB in the folder of reports`);
    const day = new Date(clock.utcMs()).toISOString().slice(0, 10);
    if (this.#file.day !== day || this.#file.bytes >= FILE_BYTES) {
      this.#file = { path: join(directory, `reports-${day}_${randomUUID()}.ndjson`), day, bytes: 0 };
    }
    await appendWhole(files, this.#file.path, bytes);
    this.#file.bytes += bytes.length;
    this.#folderBytes += bytes.length;
  }

  async #measure(): Promise<void> {
    const { directory, clock } = this.options;
    const names = await reportFiles(directory);
    const sizes = await Promise.all(names.map((name) => nodeFiles.stat(join(directory, name))));
    this.#folderBytes = sizes.reduce((sum, { size }) => sum + size, 0);
    this.#measuredMs = clock.monotonicMs();
  }
}
