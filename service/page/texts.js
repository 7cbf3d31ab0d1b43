/** The texts of the page about the service's replies. Pure. A card has rows of term and text, or says what to do. */

/** @import { ForecastReply, HandoversReply, HistoryReply, StateReply } from '../api/wire.ts' */
/** @typedef {(readonly [term: string, text: string])[] | string} Card */

/** @type {Readonly<Record<StateReply['dish']['state'], string>>} */
const DISH = {
  unused: 'No dish is configured.',
  connecting: 'Looking for the dish.',
  online: 'The dish is online.',
  obstructed: 'The dish is obstructed.',
  outage: 'The dish has an outage.',
  asleep: 'The dish is asleep.',
  rebooting: 'The dish is rebooting.',
  unreachable: 'The dish does not answer.',
};

/** @type {Readonly<Record<Exclude<StateReply['sky']['state'], 'running'>, string>>} */
const NO_SKY = {
  unused: 'Satellites are not shown. To see them, start the service with --tle and the orbits of CelesTrak.',
  'no-elements': 'No orbits have been loaded yet. If a problem is shown above, it says why.',
  'elements-too-old': 'The orbits are too old. Renew the file of --tle, or give the address of a newer one.',
  'no-location':
    'The location of the dish is unknown. Start the service with --location, or allow access to it in the app of the dish.',
};

/** Says what the service sees now. @param {StateReply} state @param {number | undefined} handoverSeconds */
export function headline({ dish, link }, handoverSeconds) {
  const players = link.players === 0 ? 'No player reports.' : `${link.players} player${link.players === 1 ? '' : 's'}.`;
  const handover = handoverSeconds === undefined ? '' : ` Next handover in ${Math.ceil(handoverSeconds)} s.`;
  return `${DISH[dish.state]} ${players}${handover}`;
}

/** @param {number | undefined} silentSeconds since the last answer; undefined without an answer @param {string} why */
export function lostText(silentSeconds, why) {
  const since = silentSeconds === undefined ? '' : ` Everything below is ${duration(silentSeconds)} old.`;
  return `The service does not answer: ${why}.${since} This page keeps asking.`;
}

/** The text of a problem stays the same, because screen readers announce changes. @param {StateReply} state */
export function problemTexts({ problems }) {
  return problems.map(({ part, message, sinceMs }) => {
    const since = new Date(sinceMs).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
    return `${part.slice(0, 1).toUpperCase()}${part.slice(1)}: ${message} (since ${since})`;
  });
}

/** @param {ForecastReply} reply @param {StateReply} state */
export function linkText({ forecast, because }, { link, dish }) {
  if (forecast === null) {
    const source = dish.state === 'unused' ? 'a player reports' : 'a player reports, or something downloads at speed';
    return `No forecast: ${because ?? 'the reason is unknown'}. Forecasts begin when ${source}.`;
  }
  const { levels, quantilesBps } = forecast;
  /** @param {number} level */
  const at = (level) => {
    const distances = levels.map((one) => Math.abs(one - level));
    const i = distances.indexOf(Math.min(...distances));
    return { level: percent(levels[i]), mbps: megabits(quantilesBps[0]?.[i]) };
  };
  const [low, middle] = [at(0.1), at(0.5)];
  const observed = `Observed: ${duration(link.observedSeconds)} of downloads.`;
  const advice = `If a call or stream must not stall, count on ${low.mbps} Mbit/s (the risk of less is ${low.level}).`;
  return `Expected capacity: ${middle.mbps} Mbit/s. ${advice} ${observed}`;
}

/** @param {StateReply} state */
export const isSimulated = ({ dish }) => dish.hardware === 'simulated';

/** @param {Pick<HistoryReply, 'lastHour'>} history @param {StateReply} state */
export function hourText({ lastHour }, state) {
  /** @param {'outageSeconds' | 'obstructedSeconds'} what */
  const sum = (what) => lastHour.reduce((total, minute) => total + minute[what], 0);
  const [outage, obstructed] = [sum('outageSeconds'), sum('obstructedSeconds')];
  const hit = lastHour.filter(({ outageSeconds, obstructedSeconds }) => outageSeconds + obstructedSeconds > 0).length;
  const seen = `${lastHour.length} observed minute${lastHour.length === 1 ? '' : 's'}`;
  if (hit === 0) return `No outage and no obstruction in ${seen}.`;
  const isBlocked = obstructed > 0 && !isSimulated(state);
  const blocked = isBlocked ? ' Something blocks the view of the dish: the app of the dish shows where.' : '';
  return `Outages: ${outage} s. View obstructed: ${obstructed} s. Affected: ${hit} of ${seen}.${blocked}`;
}

/** @param {StateReply} state @returns {Card} */
export function dishCard({ dish, serverUtcMs }) {
  if (dish.state === 'unused') return 'To watch your dish, start the service with --dish 192.168.100.1:9200.';
  // If the dish is unreachable, the problem above says why.
  const detail = dish.detail && dish.state !== 'unreachable' ? ` (${dish.detail})` : '';
  return rows(
    ['State', `${dish.state}${detail}, for ${duration((serverUtcMs - dish.sinceMs) / 1000)}`],
    ['Ping', dish.latencyMs && `${dish.latencyMs.toFixed(0)} ms`],
    ['Lost pings', percent(dish.dropRate)],
    ['Download', megabits(dish.downlinkUsageBps, ' Mbit/s')],
    ['Upload', megabits(dish.uplinkUsageBps, ' Mbit/s')],
    ['Obstructed sky', percent(dish.fractionObstructed, 1)],
    ['Running', dish.uptimeSeconds && duration(dish.uptimeSeconds)],
    ['Hardware', dish.hardware],
    ['Firmware', dish.software],
  );
}

/** @param {HandoversReply} reply @param {number | undefined} nextSeconds @param {StateReply} state @returns {Card} */
export function handoversCard({ epoch }, nextSeconds, { dish }) {
  if (nextSeconds === undefined && ['online', 'obstructed', 'outage'].includes(dish.state)) {
    const chance = percent(epoch.leoProbability ?? undefined) ?? 'unknown';
    return `Unknown, although the dish answers: the throughput shows no handovers yet (probability of a satellite link: ${chance}). Downloads let the service find them.`;
  }
  if (nextSeconds === undefined) {
    return 'Unknown: the service must see a dish, or the throughput of players, before it can forecast handovers.';
  }
  return rows(
    ['Next', `in ${Math.ceil(nextSeconds)} s`],
    ['Uncertainty', epoch.uncertaintySeconds === null ? undefined : `± ${epoch.uncertaintySeconds.toFixed(1)} s`],
  );
}

/** @param {StateReply} state @returns {Card} */
export function skyCard({ sky }) {
  if (sky.state !== 'running') return NO_SKY[sky.state];
  const { inView, elementsAgeHours } = sky;
  return rows(
    ['In view', `${inView.length} satellite${inView.length === 1 ? '' : 's'} above 25°`],
    ...inView.slice(0, 5).map(({ name, elevationDegrees, azimuthDegrees }) => {
      return /** @type {const} */ ([name, `${elevationDegrees.toFixed(0)}° high, ${compass(azimuthDegrees)}`]);
    }),
    ['Orbits', elementsAgeHours === undefined ? undefined : `${duration(elementsAgeHours * 3600)} old`],
  );
}

/** Returns number, share and state of each player. @param {StateReply} state */
export function playerRows({ link, serverUtcMs }) {
  return link.eachPlayer.map(({ share, isDownloading, reportedMs }, i) => {
    const state = isDownloading ? 'downloading' : 'waiting';
    const reported = `${state}, reported ${duration((serverUtcMs - reportedMs) / 1000)} ago`;
    return [String(i + 1), percent(share) ?? '', reported];
  });
}

/** @param {StateReply} state @returns {Card} */
export function recordingsCard({ recording }) {
  const { directory, lines, waiting, lost, deletedFiles } = recording;
  if (directory === null)
    return 'Nothing is recorded. To keep what the service sees, start the service with --record and a folder.';
  return rows(
    ['Folder', directory],
    ['Lines', lines.toLocaleString('en')],
    ['Waiting for the disk', waiting === 0 ? undefined : waiting.toLocaleString('en')],
    ['Lost', lost === 0 ? undefined : lost.toLocaleString('en')],
    ['Old files deleted', String(deletedFiles)],
  );
}

/** @param {StateReply} state */
export function aboutText({ version, startedMs, serverUtcMs, location }) {
  const place = location && `, dish near ${location.latitudeDegrees}, ${location.longitudeDegrees}`;
  return `Version ${version}, started ${duration((serverUtcMs - startedMs) / 1000)} ago${place ?? ''}`;
}

/** `12 s`, `3 min`, `5 h`, `2 days`. It is negative if the service's clock was set back. @param {number} seconds */
export function duration(seconds) {
  if (seconds < -1) return 'an unknown time';
  if (seconds < 100) return `${Math.max(0, Math.floor(seconds))} s`;
  if (seconds < 6000) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} days`;
}

/** @param {(readonly [string, string | 0 | undefined])[]} given */
function rows(...given) {
  return given.flatMap(([term, text]) => (text ? [/** @type {const} */ ([term, text])] : []));
}

/** @param {number | undefined} share */
function percent(share, digits = 0) {
  return share === undefined ? undefined : `${(share * 100).toFixed(digits)} %`;
}

/** Converts to Mbit/s. @param {number | undefined} bps */
function megabits(bps, unit = '') {
  return bps === undefined ? undefined : `${(bps / 1e6).toFixed(bps < 9.95e6 ? 1 : 0)}${unit}`;
}

/** @param {number} degrees */
function compass(degrees) {
  const names = ['north', 'northeast', 'east', 'southeast', 'south', 'southwest', 'west', 'northwest'];
  return names[Math.round(degrees / 45) % 8];
}
