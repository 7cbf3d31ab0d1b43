/** Reads MPDs on disk (ISO/IEC 23009-1): SegmentTemplate, SegmentTimeline, SegmentList, and files with an index. */

import { DOMParser } from 'linkedom';
import { check, InputError } from '../../abr/errors.ts';
import { placeOf } from '../../replay/formats/place.ts';
import { remembered } from '../../replay/remembered.ts';
import { type Piece, pathOf, type StreamRepresentation, type StreamSegment, urlOf } from './pieces.ts';
import { indexedSegments } from './segment-index.ts';

/** The members of linkedom's elements that this file uses. */
interface Element {
  tagName: string;
  textContent: string;
  children: Iterable<Element>;
  getAttribute(name: string): string | null;
}

/** A representation of a period. `levels` are the period, the adaptation set and the representation. */
interface Source extends Pick<ReturnType<typeof periodsOf>[number], 'startSeconds' | 'seconds'> {
  levels: readonly Element[];
  base: URL;
  id: string;
  bandwidth: string;
  /** The place of the representation in errors. */
  place: string;
}

/** Weeks of video have fewer. */
const MOST_SEGMENTS = 1e6;

export function readDash(text: string, file: string): StreamRepresentation[] {
  const mpd = new DOMParser().parseFromString(text, 'text/xml').documentElement as Element | null;
  check(mpd !== null, file, 'a whole MPD', text);
  if (mpd.getAttribute('type') === 'dynamic') throw new InputError(file, 'a static MPD', undefined, 'a dynamic one');
  const representations = new Map<string, StreamRepresentation>();
  for (const { period, ...times } of periodsOf(mpd, file)) {
    const sets = childrenOf(period, 'AdaptationSet');
    for (const levels of sets.flatMap((set) => childrenOf(set, 'Representation').map((one) => [period, set, one]))) {
      if (!isVideo(levels)) continue;
      if (childrenIn(levels, 'ContentProtection').length > 0) {
        throw new InputError(file, 'media without encryption', undefined, 'ContentProtection');
      }
      const [id, bandwidth] = ['id', 'bandwidth'].map((name) => levels[2]!.getAttribute(name) ?? '') as [
        string,
        string,
      ];
      const bases = [mpd, ...levels].flatMap((level) => childrenOf(level, 'BaseURL')[0]?.textContent.trim() ?? []);
      const base = bases.reduce((url, below) => urlOf(below, url), urlOf('', file));
      const place = placeOf({ file, field: id });
      const known = remembered(representations, id, () => ({ ...aboutOf(levels, place), segments: [] }));
      const source = { levels, base, id, bandwidth, place, ...times };
      known.segments.push(...segmentsOf(source, file));
    }
  }
  return [...representations.values()];
}

function periodsOf(mpd: Element, file: string) {
  const elements = childrenOf(mpd, 'Period');
  const totalSeconds = secondsOf(mpd.getAttribute('mediaPresentationDuration'));
  let endSeconds = 0;
  return elements.map((period, i) => {
    const startSeconds = secondsOf(period.getAttribute('start')) ?? endSeconds;
    const nextSeconds = secondsOf(elements[i + 1]?.getAttribute('start') ?? null) ?? totalSeconds;
    const seconds = secondsOf(period.getAttribute('duration')) ?? (nextSeconds ?? Number.NaN) - startSeconds;
    check(!Number.isNaN(seconds), placeOf({ file, field: `Period ${i}` }), 'a duration', undefined);
    endSeconds = startSeconds + seconds;
    return { period, startSeconds, seconds };
  });
}

function isVideo(levels: readonly Element[]): boolean {
  const type = inherited(levels, 'contentType') ?? inherited(levels, 'mimeType') ?? '';
  // Pictures for seeking have the type `image`.
  return type === '' ? inherited(levels, 'width') !== undefined : type.startsWith('video');
}

function aboutOf(levels: readonly Element[], place: string): Omit<StreamRepresentation, 'segments'> {
  const element = levels.at(-1)!;
  const number = (name: string) => {
    const [over = Number.NaN, under = 1] = inherited(levels, name)?.split('/').map(Number) ?? [];
    return over / under > 0 ? { [name]: over / under } : {};
  };
  const { bandwidth: bitrateBps } = number('bandwidth');
  check(bitrateBps !== undefined, place, 'a bandwidth above 0', element.getAttribute('bandwidth'));
  const codec = inherited(levels, 'codecs');
  return {
    ...{ id: element.getAttribute('id') ?? '', bitrateBps },
    ...{ ...number('width'), ...number('height'), ...number('frameRate') },
    ...(codec !== undefined && { codec }),
  };
}

function segmentsOf(source: Source, file: string): StreamSegment[] {
  const { levels, base, place } = source;
  const template = childrenIn(levels, 'SegmentTemplate');
  if (template.length > 0) return templateSegments(template, source);
  const list = childrenIn(levels, 'SegmentList');
  if (list.length > 0) return listSegments(list, source);
  check(base.href !== urlOf('', file).href, place, 'segments or a BaseURL', undefined);
  const index = rangeOf(inherited(childrenIn(levels, 'SegmentBase'), 'indexRange'));
  return indexedSegments({ file: pathOf('', base), ...index }).map((segment) => ({
    ...segment,
    startSeconds: source.startSeconds + segment.startSeconds,
  }));
}

function templateSegments(template: readonly Element[], source: Source): StreamSegment[] {
  const { id, bandwidth, base, place } = source;
  const pattern = inherited(template, 'media');
  check(pattern !== undefined, place, 'SegmentTemplate@media', undefined);
  const address = ({ number, time }: { number: number; time: number }) => {
    const values: Record<string, unknown> = { RepresentationID: id, Bandwidth: bandwidth, Number: number, Time: time };
    const path = pattern.replace(/\$(\w*)(?:%0(\d{1,2})d)?\$/g, (_, key: string, width = '0') =>
      key === '' ? '$' : String(values[key] ?? '').padStart(Number(width), '0'),
    );
    return { file: pathOf(path, base) };
  };
  const first = Number(inherited(template, 'startNumber') ?? 1);
  return timesOf(template, source).map(({ time, ...times }, i) => ({
    ...address({ number: first + i, time }),
    ...times,
  }));
}

function listSegments(list: readonly Element[], source: Source): StreamSegment[] {
  const { base } = source;
  const lists = list.map((one) => childrenOf(one, 'SegmentURL'));
  const urls = lists.filter((some) => some.length > 0).at(-1) ?? [];
  return timesOf(list, source, urls.length).map(({ time: _, ...times }, i) => ({
    file: pathOf(urls[i]?.getAttribute('media') ?? '', base),
    ...rangeOf(urls[i]?.getAttribute('mediaRange') ?? undefined),
    ...times,
  }));
}

/** Times of segments. `time` is in the media's ticks. A list has at most `most` segments. */
function timesOf(elements: readonly Element[], source: Source, most = Number.POSITIVE_INFINITY) {
  const { startSeconds: periodStartSeconds, seconds: periodSeconds, place } = source;
  const number = (name: string, otherwise: number) => Number(inherited(elements, name) ?? otherwise);
  const timescale = number('timescale', 1);
  const offset = number('presentationTimeOffset', 0);
  const end = offset + periodSeconds * timescale;
  const timeline = childrenIn(elements, 'SegmentTimeline').at(-1);
  const entries = timeline && childrenOf(timeline, 'S');
  const ticks: { time: number; duration: number }[] = [];
  if (entries) {
    for (const [i, entry] of entries.entries()) {
      const own = (of: Element | undefined, name: string) => Number(of?.getAttribute(name) ?? Number.NaN);
      const previous = ticks.at(-1);
      let time = own(entry, 't') || (previous ? previous.time + previous.duration : 0);
      const duration = own(entry, 'd');
      check(duration > 0, place, 'S@d above 0', duration);
      const repeats = own(entry, 'r') || 0;
      const until = own(entries[i + 1], 't') || end;
      const count = repeats < 0 ? Math.round((until - time) / duration) : repeats + 1;
      check(count < MOST_SEGMENTS, place, `fewer than ${MOST_SEGMENTS} segments`, count);
      for (let k = 0; k < count && ticks.length < most; k++, time += duration) ticks.push({ time, duration });
    }
  } else {
    const duration = number('duration', most === 1 ? end - offset : 0);
    check(duration > 0, place, 'a duration of segments', duration);
    // A remainder of a few ticks is a rounding error.
    const count = Math.min(most, Math.ceil((end - offset) / duration - 1e-3));
    check(count < MOST_SEGMENTS, place, `fewer than ${MOST_SEGMENTS} segments`, count);
    for (let k = 0; k < count; k++) ticks.push({ time: offset + k * duration, duration });
  }
  return ticks.map(({ time, duration }) => ({
    time,
    startSeconds: periodStartSeconds + (time - offset) / timescale,
    seconds: Math.min(duration, Math.max(1, end - time)) / timescale,
  }));
}

/** The attribute of the innermost element that has it. */
function inherited(levels: readonly Element[], name: string): string | undefined {
  return levels.flatMap((level) => level.getAttribute(name) ?? []).at(-1);
}

function childrenOf(element: Element, name: string): Element[] {
  return [...element.children].filter(({ tagName }) => tagName === name);
}

const childrenIn = (levels: readonly Element[], name: string) => levels.flatMap((level) => childrenOf(level, name));

/** Parses `<first>-<last>`. */
function rangeOf(text: string | undefined): Pick<Piece, 'start' | 'end'> {
  const [first, last] = text?.split('-').map(Number) ?? [];
  return first === undefined ? {} : { start: first, end: last! + 1 };
}

/** Parses an ISO 8601 duration without years and months. */
function secondsOf(text: string | null): number | undefined {
  const found = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/.exec(text ?? '');
  if (!found) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = found.slice(1).map((part) => Number(part ?? 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}
