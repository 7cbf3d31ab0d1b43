/**
 * A trial with the packed leo-abr-tools, as docs/production.md describes it: a configuration on another origin, viewers
 * in arms, their reports in `collect`, the table of `trial`, a guard, and the switch-off.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { SessionReport } from '../../abr/qoe/session-report.ts';
import { synthesizeShippedTraces } from '../../replay/link-model/shipped-traces.ts';
import { assignArm } from '../../src/trial.ts';
import { expect, test } from '../playback/playback-test.ts';
import { openViewers, reportsIn, trialScenario } from '../playback/viewers.ts';
import { installTools, runTools, servingTools } from './installed-tools.ts';

/** Size of a trial: number of viewers, share with the plugin, seconds of media, and a folder that keeps the reports. */
const { TRIAL_VIEWERS = '16', TRIAL_SHARE = '0.5', TRIAL_SECONDS = '4', TRIAL_FOLDER } = process.env;
const VIEWERS = Number(TRIAL_VIEWERS);
const SHARE = Number(TRIAL_SHARE);
const COUNTS = { 'leo-abr': Math.round(SHARE * VIEWERS), player: VIEWERS - Math.round(SHARE * VIEWERS) };
const SECONDS = Number(TRIAL_SECONDS);
const AT_ONCE = 8;
/** A folder may have reports of earlier runs. */
const NAME = TRIAL_FOLDER === undefined ? 'packed' : `packed ${new Date().toISOString()}`;

/** Keys of viewers. Each arm gets as many viewers as its share says. */
function keys(): string[] {
  const left = new Map(Object.entries(COUNTS));
  return Array.from({ length: 100 * VIEWERS }, (_, i) => `viewer ${i}`).filter((key) => {
    const { arm } = assignArm({ name: NAME, key, share: SHARE });
    left.set(arm, left.get(arm)! - 1);
    return left.get(arm)! >= 0;
  });
}

/** The cron job of the guide, for this folder of reports. */
function guardScript(reports: string): string {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/production.md'), 'utf8');
  return /```sh\n(#!\/bin\/sh\n[\s\S]*?)```/.exec(guide)![1]!.replace('reports/05', reports);
}

/** A host of static files for pages of any origin. */
async function serveFile(path: string) {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'access-control-allow-origin': '*' });
    response.end(readFileSync(path));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/trial.json`, close: () => server.close() };
}

/** Reports of many viewers with these sessions, but with a long startup in the plugin's arm. */
function slowReports(seen: readonly SessionReport[]): string[] {
  return Array.from({ length: 1000 }, (_, i) => {
    const report = seen[i % seen.length]!;
    const startupSeconds = report.startupSeconds + (report.arm === 'leo-abr' ? 5 : 0);
    return JSON.stringify({ ...report, id: i.toString(16).padStart(16, '0'), cluster: i, startupSeconds });
  });
}

test('viewers in arms of a configuration report to collect; trial compares them, and a guard switches off', async ({
  labPage,
  origin,
}) => {
  test.setTimeout(240_000 + VIEWERS * (10_000 + 2000 * SECONDS));
  const folder = mkdtempSync(join(tmpdir(), 'leo-abr-packed-trial-'));
  const reports = TRIAL_FOLDER === undefined ? join(folder, 'reports/05') : resolve(TRIAL_FOLDER);
  const stored = () => reportsIn(reports).map((line) => JSON.parse(line) as SessionReport);
  const before = stored().length;
  const file = join(folder, 'trial.json');
  const shares = { player: 1 - SHARE, 'leo-abr': SHARE };
  writeFileSync(file, JSON.stringify({ schema: 1, enabled: true, trial: NAME, shares, options: { saveData: true } }));
  writeFileSync(join(folder, 'guard.sh'), guardScript(reports));
  const guard = () => execFileSync('sh', ['guard.sh'], { cwd: folder, encoding: 'utf8' });
  const cdn = await serveFile(file);
  try {
    installTools(folder, []);
    const page = await openViewers(labPage);
    const traces = synthesizeShippedTraces();
    const trialOf = (key: string) => ({ config: cdn.url, configSeconds: 10, key });
    const viewer = (key: string, i: number, report: string) => {
      const session = origin.createSession({ trace: traces[i % traces.length]!, scenario: trialScenario(SECONDS) });
      return { manifest: origin.manifestUrl(session), trial: trialOf(key), report };
    };
    const view = async (some: ReturnType<typeof viewer>[]) => {
      const seen = await page.evaluate((all) => Promise.all(all.map((one) => window.view(one))), some);
      await page.evaluate(() => window.stopAll());
      return seen.map(({ arm }) => arm);
    };
    const play = async (report: string) => {
      const waiting = keys().map((key, i) => viewer(key, i, report));
      while (waiting.length > 0) await view(waiting.splice(0, AT_ONCE));
      await expect.poll(() => stored().length - before, { timeout: 20_000 }).toBe(VIEWERS);
      if (TRIAL_FOLDER !== undefined) return;
      expect(guard()).toMatch(
        /^No guard (is broken for certain \(trial packed\): .*too few viewers yet|of the trial packed can be checked yet)/,
      );
      expect(JSON.parse(readFileSync(file, 'utf8')).enabled).toBe(true);
    };
    const switchOff = async (report: string) => {
      const slow = slowReports(stored());
      while (slow.length > 0) {
        const body = slow.splice(0, 20).join('\n');
        expect((await fetch(report, { method: 'POST', body })).status).toBe(204);
      }
      expect(guard()).toMatch(/^A guard is broken for certain \(trial packed\): .*startup of leo-abr is \+\d\.\d+ s /);
      expect(JSON.parse(readFileSync(file, 'utf8')).enabled).toBe(false);
      expect(
        await view(
          keys()
            .slice(0, 4)
            .map((key, i) => viewer(key, i, report)),
        ),
      ).toEqual(Array(4).fill(undefined));
      const ofPlayer = () => stored().flatMap(({ trial, controller }) => (trial ? [] : [controller]));
      await expect.poll(ofPlayer, { timeout: 20_000 }).toEqual(Array(4).fill('player'));
    };
    const compare = async () => {
      const trial = runTools(folder, ['trial', reports, '--name', NAME]);
      if (COUNTS['leo-abr'] < 8) return expect(trial).rejects.toThrow('wait for more sessions');
      const { stdout } = await trial;
      if (process.env['TRIAL_VIEWERS']) process.stdout.write(stdout);
      expect(stdout).toMatch(/^With `leo-abr` instead of `player`, .*QoE/m);
      expect(stdout).toMatch(/^metric +player +leo-abr +difference/m);
      for (const metric of [
        ...['perceived QoE, 0 to 100', 'stalled share, %', 'watch time, s per session', 'startup, s'],
        'egress, GB per hour watched',
      ]) {
        expect(stdout).toMatch(new RegExp(`^${metric} +−?\\d\\S* +−?\\d\\S* +[+−]?\\d`, 'm'));
      }
      expect(stdout).toContain(`- \`leo-abr\`: ${COUNTS['leo-abr']} sessions, 0.0 % with the player's own algorithm`);
      expect(stdout).toContain(`- \`player\`: ${COUNTS.player} sessions, 100.0 % with the player's own algorithm`);
      expect(stdout).not.toMatch(/not counted: (?!of another trial)/);
    };
    const collect = `npx leo-abr-tools collect --port 0 --out ${reports}`;
    await servingTools(folder, collect, play);
    for (const one of stored().slice(before)) {
      expect(one.perceivedQoe).toBeLessThan(100);
      expect(one.receivedBits).toBeGreaterThanOrEqual(one.wastedBits);
      expect(one.receivedBits).toBeGreaterThan(0);
    }
    await compare();
    if (TRIAL_FOLDER === undefined) await servingTools(folder, collect, switchOff);
  } finally {
    cdn.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
