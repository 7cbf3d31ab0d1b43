/** The collector of session reports: checks the reports that pages post, and answers when they are in a file. */

import { randomUUID } from 'node:crypto';
import * as nodeFiles from 'node:fs/promises';
import { join } from 'node:path';
import { Counter, Gauge, Registry } from 'prom-client';
import { InputError } from '../../abr/errors.ts';
import { HEALTH, type HttpOptions, type ListenOptions, listen, newHttpServer } from '../../service/api/http-server.ts';
import { type Refusal, refusalLog, refuse } from '../../service/api/refusals.ts';
import { type Clock, REAL_CLOCK } from '../../service/clock.ts';
import { NO_LOG } from '../../service/log.ts';
import { type AppendFiles, appendWhole, messageOf, openFolder } from '../../service/recording/whole-lines.ts';
import type { ServiceOptions } from '../../service/start-service.ts';
import { parseSessionReport } from '../session-report.ts';

/** The log has refusals without the addresses of clients. The default limits are this file's. */
export interface CollectorOptions extends HttpOptions, ListenOptions, Pick<ServiceOptions, 'clock' | 'log'> {
  /** Folder of the files `reports-<UTC day>_<random>.ndjson`. Several collectors may share it. */
  directory: string;
  /** Limit of the size of all reports in the folder, in bytes. */
  maxBytes: number;
  /** Days for which reports are kept. Older files are deleted at the start and once a day. Default: all are kept. */
  keepDays?: number | undefined;
  files?: AppendFiles | undefined;
}

export type RunningCollector = Awaited<ReturnType<typeof startCollector>>;

export const REPORTS_PATH = '/v1/reports';
/** Beacons, and requests without a preflight, have the type `text/plain`. */
const TYPES = ['text/plain', 'application/json', 'application/x-ndjson'];

/** A page sends a report and leaves: its connection need not stay open, but thousands may be open at once. */
const LIMITS = { rate: { perSecond: 20, burst: 200 }, connections: 8192, keepAliveMs: 2000 };
/** When a file has this size, another file follows. */
const FILE_BYTES = 256e6;
/** After this time the folder is measured again, because somebody may move files away. */
const MEASURE_MS = 10_000;
const DAY_MS = 86_400_000;

/** Rejects if it cannot listen, or if the folder is unusable. */
export async function startCollector(options: CollectorOptions) {
  const { clock = REAL_CLOCK, limits, log = NO_LOG } = options;
  await openFolder(options.directory);
  const folder = new ReportFiles({ ...options, clock });
  const { keepDays, onFault = () => {} } = options;
  const deleteOld = () => deleteBefore(options.directory, clock.utcMs() - keepDays! * DAY_MS);
  if (keepDays !== undefined) await deleteOld();
  const logRefusal = refusalLog(log, clock);
  const registry = new Registry();
  const registers = [registry];
  const reports = new Counter({ name: 'leo_abr_reports_total', help: 'Reports written.', registers });
  new Gauge({
    ...{ name: 'leo_abr_reports_writable', help: '1 if the newest report or probe was written.', registers },
    collect() {
      this.set(folder.failure === undefined ? 1 : 0);
    },
  });
  const refused = { name: 'leo_abr_refusals_total', help: 'Requests refused, by the code of the error.' };
  const refusals = new Counter({ ...refused, labelNames: ['code'], registers });
  const app = await newHttpServer(
    { ...options, limits: { ...LIMITS, ...limits } },
    {
      clock,
      onRefusal(refusal) {
        refusals.inc({ code: refusal.code });
        // Addresses are kept in memory only, to limit their rates. The folder logs why it takes no reports.
        if (refusal.status < 500) logRefusal({ ...refusal, address: 'a client' });
      },
      routes: `POST ${REPORTS_PATH}, GET ${HEALTH} or GET /metrics`,
      types: TYPES,
      hasQueryToken: true,
    },
  );
  /** `accepted` is the number of reports that have been written since the start. */
  const running = { url: '', accepted: 0, close };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(TYPES, { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.post<{ Body: string | undefined }>(REPORTS_PATH, async ({ body }, reply) => {
    try {
      const lines = validLines(body);
      await folder.append(lines.join(''));
      running.accepted += lines.length;
      reports.inc(lines.length);
      return reply.code(204).send();
    } catch (error) {
      return refuse(reply, refusalOf(error as Error));
    }
  });
  app.get(HEALTH, async (_request, reply) => {
    const failure = await folder.probe();
    reply.code(failure === undefined ? 200 : 503).type('text/plain');
    return `${failure === undefined ? 'ok' : refusalOf(failure).message}\n`;
  });
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
  running.url = (await listen(app, options)).url;
  // If listening fails, no timer keeps the process alive.
  const timer = keepDays === undefined ? undefined : setInterval(() => void deleteOld().catch(onFault), DAY_MS);
  function close(): Promise<void> {
    clearInterval(timer);
    return app.close().then(() => folder.written);
  }
  return running;
}

/** Parses the reports of a body and writes each as a line. Throws an `InputError` if any line is wrong. */
function validLines(body = ''): string[] {
  const lines = body.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new InputError('body', 'lines with a report each', body);
  return lines.map((line, i) => `${JSON.stringify(parseSessionReport(line, `line ${i + 1}`))}\n`);
}

function refusalOf(error: Error): Omit<Refusal, 'address'> {
  if (error instanceof InputError) return { status: 400, code: 'invalid-report', message: error.message };
  if (error instanceof FolderFullError) return { status: 507, code: 'full', message: error.message };
  return { status: 503, code: 'not-written', message: `the disk did not take it: ${messageOf(error)}` };
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
  private _file = { path: '', day: '', bytes: 0 };
  private _folderBytes = 0;
  private _measuredMs = Number.NEGATIVE_INFINITY;
  private _triedMs = Number.NEGATIVE_INFINITY;
  /** The size of the newest lines. */
  private _bytes = 1000;
  private readonly _probePath: string;
  /** Why the newest lines, or the newer probe, were not written. */
  failure: Error | undefined;
  /** Resolves when all lines so far are in files or refused. */
  written: Promise<void> = Promise.resolve();

  constructor(private readonly _options: CollectorOptions & { clock: Clock }) {
    this._probePath = join(_options.directory, `.${randomUUID()}.probe`);
  }

  /** Resolves when all lines are in a file. Otherwise writes none and rejects, at the limit with `FolderFullError`. */
  append(text: string): Promise<void> {
    return this._try(() => this._append(Buffer.from(text)));
  }

  /** Resolves with `failure`, for which it writes and removes a file if nothing was tried for 10 s. */
  async probe(): Promise<Error | undefined> {
    const { clock, files = nodeFiles } = this._options;
    const write = async () => {
      await this._requireRoom(this._bytes);
      await appendWhole(files, this._probePath, Buffer.alloc(this._bytes));
      await files.truncate(this._probePath);
    };
    const remove = () => nodeFiles.rm(this._probePath, { force: true });
    if (clock.monotonicMs() - this._triedMs >= MEASURE_MS) {
      await this._try(() => write().finally(remove)).catch(() => {});
    }
    return this.failure;
  }

  /** Runs it after earlier ones. Logs when a failure begins and when it is over. */
  private _try(act: () => Promise<void>): Promise<void> {
    const { clock, log = NO_LOG } = this._options;
    const done = this.written.then(() => {
      this._triedMs = clock.monotonicMs();
      return act();
    });
    const note = (failure?: Error) => {
      const before = this.failure && refusalOf(this.failure).code;
      this.failure = failure;
      if (failure === undefined) {
        if (before !== undefined) log.info({ part: 'disk', code: before }, 'reports are written again');
        return;
      }
      const { code, message } = refusalOf(failure);
      if (code !== before) log.error({ part: 'disk', code }, `reports are refused: ${message}`);
    };
    this.written = done.then(() => note(), note);
    return done;
  }

  private async _append(bytes: Uint8Array): Promise<void> {
    const { directory, files = nodeFiles, clock } = this._options;
    this._bytes = bytes.length;
    await this._requireRoom(bytes.length);
    const day = new Date(clock.utcMs()).toISOString().slice(0, 10);
    if (this._file.day !== day || this._file.bytes >= FILE_BYTES) {
      this._file = { path: join(directory, `reports-${day}_${randomUUID()}.ndjson`), day, bytes: 0 };
    }
    await appendWhole(files, this._file.path, bytes);
    this._file.bytes += bytes.length;
    this._folderBytes += bytes.length;
  }

  private async _requireRoom(bytes: number): Promise<void> {
    const { clock, maxBytes } = this._options;
    if (clock.monotonicMs() - this._measuredMs >= MEASURE_MS) await this._measure();
    if (this._folderBytes + bytes <= maxBytes) return;
    throw new FolderFullError(`expected less than ${maxBytes / 1e6} MB in the folder of reports`);
  }

  private async _measure(): Promise<void> {
    const { directory, clock } = this._options;
    const names = await reportFiles(directory);
    // A file may be gone by now, or be a link to nothing.
    const sizeOf = (name: string) =>
      nodeFiles.stat(join(directory, name)).then(
        ({ size }) => size,
        () => 0,
      );
    this._folderBytes = (await Promise.all(names.map(sizeOf))).reduce((sum, size) => sum + size, 0);
    this._measuredMs = clock.monotonicMs();
  }
}
