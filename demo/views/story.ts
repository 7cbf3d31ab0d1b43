/** Says in a sentence or two what a viewer has seen in a run and what it cost, and the news of the link. Pure. */

import { bitrate, bytes, clock, decimal, percent, seconds } from '../format.ts';
import { type ExpectedHandover, type Preparation, preparationFor } from '../run/handovers.ts';
import { type DemoRun, nameIn, nowSecondsOf } from '../run/run.ts';
import { dataOf, LEAST_LEAD, type SessionRecord, seenSoFar } from '../run/session-record.ts';

/** Everybody notices a stall of this length. */
const LONG_SECONDS = 0.5;
/** If a player gives up a download at most this long before a stall, it has escaped the stall. */
const RESCUE_SECONDS = 8;
/** An expected handover with a lower confidence is not shown. */
const LEAST_CONFIDENCE = 0.5;
/** A handover stays news for this time. */
const NEWS_SECONDS = 8;

const BUSY = 'This machine is too busy for so many players: freezes may be its own, not the link’s.';
/** A smaller share of the data counts as none. */
const SAME_SHARE = 0.03;

/** Says for how long each picture froze, its quality and its data. Equal players have their mean. */
export function storyOf(run: DemoRun): string {
  if (run.players.every(({ record }) => record.startupSeconds === undefined)) return 'The players begin.';
  const kinds = kindsIn(run);
  const own = kinds.find(({ algorithm }) => algorithm.startsWith('mpc-l')) ?? kinds[0]!;
  const others = kinds.filter((kind) => kind !== own);
  const froze = [own, ...others].map(
    ({ title, count, players, stallSeconds }) =>
      `${title} ${count === 0 ? 'never froze' : `froze for ${seconds(stallSeconds)}${players > 1 ? ' on average' : ''}`}`,
  );
  const hasFrozen = kinds.some(({ count }) => count > 0);
  const text = hasFrozen || others.length === 0 ? froze.join('; ') : 'no picture froze';
  return `In ${nowSecondsOf(run).toFixed(0)}\u00a0s ${text}. ${pictureText(own, others, run.isShared)}`;
}

type Kind = ReturnType<typeof kindsIn>[number];

function kindsIn({ players, scenario }: DemoRun) {
  const titles = [...new Set(players.map(({ title }) => title))];
  return titles.map((title) => {
    const all = players.filter((one) => one.title === title);
    const records = all.map(({ record }) => record);
    const sum = (of: (record: SessionRecord) => number) => records.reduce((total, one) => total + of(one), 0);
    return {
      ...{ title, algorithm: all[0]!.algorithm },
      ...{ players: all.length, count: sum(({ freezeCount }) => freezeCount) },
      stallSeconds: sum(({ stallSeconds }) => stallSeconds) / all.length,
      quality: Math.round(sum((one) => seenSoFar(one, scenario)?.quality ?? Number.NaN) / all.length),
      bitsPerHour: sum((one) => dataOf(one, scenario).bitsPerHour ?? Number.NaN) / all.length,
    };
  });
}

function pictureText(own: Kind, others: readonly Kind[], isShared: boolean): string {
  const [other] = others;
  if (others.length !== 1 || Number.isNaN(own.quality + other!.quality)) {
    const list = (of: (kind: Kind) => string) => [own, ...others].map((one) => `${one.title} ${of(one)}`).join(', ');
    return (
      `Quality: ${list(({ quality }) => (Number.isNaN(quality) ? '–' : String(quality)))} of 100. ` +
      `Data: ${list(({ bitsPerHour: bits }) => (Number.isNaN(bits) ? '–' : bytes(bits)))} per hour.`
    );
  }
  const lead = own.quality - other!.quality;
  const look = Math.abs(lead) < LEAST_LEAD ? 'as good' : lead > 0 ? 'better' : 'worse';
  const more = own.bitsPerHour / other!.bitsPerHour - 1;
  const much = `${Math.round(100 * Math.abs(more))}\u00a0%`;
  const data = Math.abs(more) < SAME_SHARE ? 'as much' : `${much} ${more > 0 ? 'more' : 'less'}`;
  const whose = isShared ? ' of the link’s' : '';
  return `${own.title}’s picture is ${look} (${own.quality} and ${other!.quality} of 100), with ${data}${whose} data.`;
}

/** Describes a handover that is expected or just over, or else a stall that a player escaped; undefined without news. */
export function newsOf(run: DemoRun): string | undefined {
  if (run.isBusy) return BUSY;
  const now = nowSecondsOf(run);
  for (const player of run.players) {
    const { record } = player;
    const title = nameIn(run, player);
    const news = expectedIn(record).findLast(({ atSeconds }) => atSeconds > now - NEWS_SECONDS);
    if (news === undefined) continue;
    const { atSeconds, confidence } = news;
    const did = preparationText(preparationFor(news, record));
    const ahead = `${Math.ceil(atSeconds - now)}\u00a0s (${percent(confidence)} sure)`;
    return atSeconds > now
      ? `${title} expects another satellite in ${ahead}: ${did}.`
      : `At ${clock(atSeconds)} the link moved to another satellite, as ${title} had expected: ${did}.`;
  }
  return rescueOf(run);
}

/** Says how a player prepared for an expected handover. */
export function preparationText({ slowedTo, lowered }: Preparation): string {
  if (lowered) return `${bitrate(lowered.toBps)} instead of ${bitrate(lowered.fromBps)} Mbit/s`;
  return slowedTo === undefined ? 'bitrate unchanged' : `plays ${decimal(100 * (1 - slowedTo), 0)}\u00a0% slower`;
}

export function expectedIn({ handovers }: SessionRecord): ExpectedHandover[] {
  return handovers.filter(({ confidence }) => confidence >= LEAST_CONFIDENCE);
}

/** Describes the first long stall that another player escaped, because it gave up a download. */
function rescueOf(run: DemoRun): string | undefined {
  const { players } = run;
  for (const rival of players) {
    const { record: other } = rival;
    const stall = other.stallsSoFar.find(({ startSeconds, endSeconds }) => endSeconds - startSeconds >= LONG_SECONDS);
    if (stall === undefined) continue;
    const { startSeconds, endSeconds } = stall;
    const [from, to] = [startSeconds - RESCUE_SECONDS, endSeconds];
    for (const player of players) {
      const { record: own } = player;
      const hasStalled = own.stallsSoFar.some((one) => one.endSeconds > from && one.startSeconds < to);
      if (player.title === rival.title || own.nowSeconds < to || hasStalled) continue;
      const given = own.downloads.find(({ outcome, endedAtSeconds: at = 0 }) => {
        return outcome === 'abandoned' && at > from && at < to;
      });
      if (given === undefined) continue;
      return (
        `At ${clock(startSeconds)} ${nameIn(run, rival)} froze for ${seconds(endSeconds - startSeconds)}. ` +
        `${nameIn(run, player)} gave up a late download at ${clock(given.endedAtSeconds!)} and played on.`
      );
    }
  }
  return undefined;
}
