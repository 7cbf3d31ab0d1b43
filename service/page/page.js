/** The page of the service asks once a second. Text of the service enters the document as text only, never as HTML. */

import { chartOf, hourOf } from './chart.js';
import * as texts from './texts.js';

/** @import { ForecastReply, HandoversReply, HistoryReply, StateReply } from '../api/wire.ts' */

const ASK_MS = 1000;
const DRAW_MS = 500;
const ANSWERS_WITHIN_MS = 4000;
const TOKEN = 'leo-abr-token';
const SVG = 'http://www.w3.org/2000/svg';

/**
 * The newest replies, and when they came by the page's even clock: no leap of a clock moves the chart.
 * @type {{ state: StateReply, forecast: ForecastReply, handovers: HandoversReply, history: HistoryReply,
 *   atMs: number } | undefined}
 */
let newest;
/** Why the newest request failed; undefined if it succeeded. @type {string | undefined} */
let failure;
/** Ends the pause before the next request. */
let askNow = () => {};

async function watch() {
  for (;;) {
    if (!document.hidden) await askAll();
    draw();
    await new Promise((resolve) => {
      askNow = () => resolve(undefined);
      if (byId('access').hidden) setTimeout(askNow, ASK_MS);
    });
  }
}

async function askAll() {
  try {
    const asked = ['state', 'forecast', 'handovers', 'history'];
    const [state, forecast, handovers, history] = await Promise.all(asked.map(ask));
    newest = { state, forecast, handovers, history, atMs: performance.now() };
    failure = undefined;
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
}

/** @param {string} what @returns {Promise<any>} */
async function ask(what) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
  const response = await fetch(`v1/${what}`, { cache: 'no-store', headers, signal }).catch((error) => {
    throw new Error(error.name === 'TimeoutError' ? 'it takes too long' : 'no connection');
  });
  byId('access').hidden = response.status !== 401;
  if (response.status === 401) {
    setText('access-fault', token === null ? '' : 'The service does not accept this token.');
    throw new Error('it needs its token');
  }
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

function draw() {
  if (failure !== undefined) {
    const silentSeconds = newest && (performance.now() - newest.atMs) / 1000;
    const needsToken = !byId('access').hidden;
    setText('headline', needsToken ? 'The service needs its token.' : texts.lostText(silentSeconds, failure));
  }
  byId('cards').hidden = newest === undefined;
  if (newest === undefined) return;
  const { state, forecast, handovers, history, atMs } = newest;
  const ageMs = performance.now() - atMs;
  /** @param {number} utcMs */
  const fromNow = (utcMs) => (utcMs - state.serverUtcMs - ageMs) / 1000;
  const ahead = handovers.handovers.map((handover) => fromNow(handover.atMs)).find((seconds) => seconds > 0);
  if (failure === undefined) setText('headline', texts.headline(state, ahead));
  byId('simulated').hidden = !texts.isSimulated(state);
  replace(byId('problems'), ...texts.problemTexts(state).map((text) => element('p', text)));
  setText('link-text', texts.linkText(forecast, state));
  fillCard('dish', texts.dishCard(state));
  setText('hour-text', texts.hourText(history, state));
  fillCard('handovers', texts.handoversCard(handovers, ahead, state));
  fillCard('sky', texts.skyCard(state));
  fillCard('recordings', texts.recordingsCard(state));
  fillPlayers(texts.playerRows(state));
  byId('no-players').hidden = state.link.players > 0;
  setText('about', texts.aboutText(state));
  const { forecast: quantiles } = forecast;
  /** @param {HistoryReply['downlinkUsage']} rates */
  const timed = (rates) => rates.map(({ atMs, bps }) => ({ atSeconds: fromNow(atMs), bps }));
  drawChart({
    usage: timed(history.downlinkUsage),
    expected: timed(history.expectedCapacity),
    forecast: quantiles === null ? undefined : { ...quantiles, issuedSeconds: fromNow(quantiles.issuedAtMs) },
    handoverSeconds: ahead,
  });
  byId('hour-card').hidden = state.dish.state === 'unused';
  drawHour(history.lastHour.map(({ startMs, ...minute }) => ({ startSeconds: fromNow(startMs), ...minute })));
}

/** @param {Parameters<typeof hourOf>[0]['minutes']} minutes */
function drawHour(minutes) {
  const { clientWidth: width, clientHeight: height } = byId('hour');
  const { bars, rates, times } = hourOf({ width, height, minutes });
  const svg = axes({ width, height, rates, times });
  svg.append(...bars.map(({ style, ...place }) => shape('rect', { class: style, ...place })));
  byId('hour').replaceChildren(svg);
}

/** @param {{ width: number, height: number } & Pick<ReturnType<typeof chartOf>, 'rates' | 'times'>} given */
function axes({ width, height, rates, times }) {
  const svg = shape('svg', { viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' });
  for (const { y, label } of rates) {
    svg.append(shape('line', { class: 'grid', x1: 34, x2: width, y1: y, y2: y }));
    svg.append(shape('text', { x: 28, y: y + 4, 'text-anchor': 'end' }, label));
  }
  for (const { x, label } of times) {
    const anchor = x >= width ? 'end' : label === 'now' ? 'middle' : 'start';
    svg.append(shape('text', { x, y: height - 2, 'text-anchor': anchor }, label));
  }
  return svg;
}

/** @param {Omit<Parameters<typeof chartOf>[0], 'width' | 'height'>} given */
function drawChart(given) {
  const { clientWidth: width, clientHeight: height } = byId('chart');
  const { fan, median, usage, expected, handovers, now, rates, times } = chartOf({ width, height, ...given });
  const svg = axes({ width, height, rates, times });
  /** @param {number} x @param {string} style */
  const upright = (x, style) => shape('line', { class: style, x1: x, x2: x, y1: 0, y2: rates[0]?.y ?? height });
  /** @param {string} style @param {string} d */
  const line = (style, d) => shape('path', { class: style, d });
  svg.append(...handovers.map((x) => upright(x, 'handover')), upright(now, 'now'));
  svg.append(...fan.map(({ path }) => line('fan', path)), line('usage', usage));
  svg.append(line('expected', expected), line('expected', median));
  byId('chart').replaceChildren(svg);
  if (fan.length > 0) setText('fan-key', `forecast, ${fan.map(({ label }) => label).join(' and ')}`);
}

/** @param {string} name @param {Record<string, string | number>} attributes @param {string[]} text */
function shape(name, attributes, ...text) {
  const made = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, String(value));
  made.append(...text);
  return made;
}

/** @param {string} tag @param {(Node | string)[]} children */
function element(tag, ...children) {
  const made = document.createElement(tag);
  made.append(...children);
  return made;
}

/** @param {string} id @param {texts.Card} card */
function fillCard(id, card) {
  /** @param {string} text whose flags must not break at their hyphens */
  const withFlags = (text) => text.split(/(--[a-z-]+)/).map((part, i) => (i % 2 === 1 ? element('code', part) : part));
  const made = typeof card === 'string' ? element('p', ...withFlags(card)) : element('dl');
  if (typeof card !== 'string') for (const [term, text] of card) made.append(element('dt', term), element('dd', text));
  replace(byId(id), made);
}

/** @param {string[][]} rows */
function fillPlayers(rows) {
  byId('players').hidden = rows.length === 0;
  const body = /** @type {HTMLElement} */ (document.querySelector('#players tbody'));
  replace(body, ...rows.map((row) => element('tr', ...row.map((text) => element('td', text)))));
}

/**
 * Replaces children only if they changed: screen readers announce changes, and a selection would be lost.
 * @param {HTMLElement} of @param {HTMLElement[]} children
 */
function replace(of, ...children) {
  const isSame =
    of.childElementCount === children.length && children.every((child, i) => child.isEqualNode(of.children[i] ?? null));
  if (!isSame) of.replaceChildren(...children);
}

/** @param {string} id @param {string} text */
function setText(id, text) {
  const of = byId(id);
  if (of.textContent !== text) of.textContent = text;
}

/** @param {string} id @returns {HTMLElement} */
function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

setText('snippet', `attachLeoAbr(player, { forecasters: [createServiceForecaster('${location.origin}')] })`);
byId('access').addEventListener('submit', (event) => {
  event.preventDefault();
  sessionStorage.setItem(TOKEN, /** @type {HTMLInputElement} */ (byId('token')).value.trim());
  askNow();
});
window.addEventListener('resize', draw);
document.addEventListener('visibilitychange', () => askNow());
setInterval(draw, DRAW_MS);
void watch();
