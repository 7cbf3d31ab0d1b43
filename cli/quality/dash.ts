/** Reads MPDs on disk (ISO/IEC 23009-1): SegmentTemplate, SegmentTimeline, SegmentList, and files with an index. */

import { DOMParser } from 'linkedom';
import { InputError } from '../../abr/errors.ts';
import { placeOf } from '../../replay/formats/place.ts';
import { type Piece, pathOf, type StreamRepresentation, type StreamSegment, urlOf } from './pieces.ts';
import { indexedSegments } from './segment-index.ts';

/** The part of linkedom's elements that is used. */
interface Element {
  tagName: string;
  textContent: string;
  children: Iterable<Element>;
  getAttribute(name: string): string | null;
}

/** What segments of a representation are read from; `levels`: period, adaptation set and representation. */
interface Source {
  file: string;
  levels: readonly Element[];
  base: URL;
  periodStartSeconds: number;
  periodSeconds: number;
  id: string;
  bandwidth: string;
}

export function readDash(text: string, file: string): StreamRepresentation[] {
  const mpd = new DOMParser().parseFromString(text, 'text/xml').documentElement as unknown as Element;
  if (mpd.getAttribute('type') === 'dynamic') throw new InputError(file, 'a static MPD', undefined, 'a dynamic one');
  const representations = new Map<string, StreamRepresentation>();
  for (const { period, startSeconds, seconds } of periodsOf(mpd, file)) {
    for (const set of childrenOf(period, 'AdaptationSet')) {
      for (const element of childrenOf(set, 'Representation')) {
        const levels = [period, set, element];
        if (!isVideo(levels)) continue;
        if (childrenOf(set, 'ContentProtection').length + childrenOf(element, 'ContentProtection').length > 0) {
          throw new InputError(file, 'media without encryption', undefined, 'ContentProtection');
        }
        const id = element.getAttribute('id') ?? '';
        const bandwidth = element.getAttribute('bandwidth') ?? '';
        const base = [mpd, ...levels].reduce(
          (url, level) => {
            const below = childrenOf(level, 'BaseURL')[0]?.textContent.trim();
            return below === undefined ? url : urlOf(below, url);
          },
          urlOf('', file),
        );
        const times = { periodStartSeconds: startSeconds, periodSeconds: seconds };
        const segments = segmentsOf({ file, levels, base, id, bandwidth, ...times });
        const known = representations.get(id) ?? { ...aboutOf(levels, placeOf({ file, field: id })), segments: [] };
        const firstIndex = known.segments.length;
        known.segments.push(...segments.map((segment) => ({ ...segment, firstIndex })));
        representations.set(id, known);
      }
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
    const seconds =
      secondsOf(period.getAttribute('duration')) ??
      (nextSeconds === undefined ? undefined : nextSeconds - startSeconds);
    if (seconds === undefined) throw new InputError(placeOf({ file, field: `Period ${i}` }), 'a duration', undefined);
    endSeconds = startSeconds + seconds;
    return { period, startSeconds, seconds };
  });
}

function isVideo(levels: readonly Element[]): boolean {
  const type = inherited(levels, 'contentType') ?? inherited(levels, 'mimeType') ?? '';
  // Pictures for seeking are of the type `image`.
  return type === '' ? inherited(levels, 'width') !== undefined : type.startsWith('video');
}

function aboutOf(levels: readonly Element[], place: string): Omit<StreamRepresentation, 'segments'> {
  const element = levels.at(-1)!;
  const number = (name: string) => {
    const [over = Number.NaN, under = 1] = inherited(levels, name)?.split('/').map(Number) ?? [];
    return over / under > 0 ? { [name]: over / under } : {};
  };
  const { bandwidth: bitrateBps } = number('bandwidth');
  if (bitrateBps === undefined) throw new InputError(place, 'a bandwidth above 0', element.getAttribute('bandwidth'));
  const codec = inherited(levels, 'codecs');
  return {
    ...{ id: element.getAttribute('id') ?? '', bitrateBps },
    ...{ ...number('width'), ...number('height'), ...number('frameRate') },
    ...(codec !== undefined && { codec }),
  };
}

type Addressed = Omit<StreamSegment, 'firstIndex'>;

function segmentsOf(source: Source): Addressed[] {
  const { levels, base, file, id } = source;
  const template = levels.flatMap((level) => childrenOf(level, 'SegmentTemplate'));
  if (template.length > 0) return templateSegments(template, source);
  const list = levels.flatMap((level) => childrenOf(level, 'SegmentList'));
  if (list.length > 0) return listSegments(list, source);
  const single = levels.flatMap((level) => childrenOf(level, 'SegmentBase'));
  if (base.href === urlOf('', file).href)
    throw new InputError(placeOf({ file, field: id }), 'segments or a BaseURL', undefined);
  const index = rangeOf(inherited(single, 'indexRange'));
  return indexedSegments({ file: pathOf('', base), ...index }).map((segment) => ({
    ...segment,
    startSeconds: source.periodStartSeconds + segment.startSeconds,
  }));
}

function templateSegments(template: readonly Element[], source: Source): Addressed[] {
  const { file, id, bandwidth, base } = source;
  const address = (name: string, { number = 0, time = 0 } = {}) => {
    const pattern = inherited(template, name);
    if (pattern === undefined) return undefined;
    const values: Record<string, string | number> = {
      RepresentationID: id,
      Bandwidth: bandwidth,
      Number: number,
      Time: time,
    };
    const path = pattern.replace(/\$(\w*)(?:%0(\d+)d)?\$/g, (_, key: string, width = '0') =>
      key === '' ? '$' : String(values[key] ?? '').padStart(Number(width), '0'),
    );
    return { file: pathOf(path, base) };
  };
  if (inherited(template, 'media') === undefined) {
    throw new InputError(placeOf({ file, field: id }), 'SegmentTemplate@media', undefined);
  }
  const init = address('initialization');
  const first = Number(inherited(template, 'startNumber') ?? 1);
  return timesOf(template, source).map(({ time, ...times }, i) => ({
    ...address('media', { number: first + i, time })!,
    ...(init && { init }),
    ...times,
  }));
}

function listSegments(list: readonly Element[], source: Source): Addressed[] {
  const { base } = source;
  const pieceOf = (element: Element | undefined, url: string, range: string): Piece => ({
    file: pathOf(element?.getAttribute(url) ?? '', base),
    ...rangeOf(element?.getAttribute(range) ?? undefined),
  });
  const urls =
    list
      .map((one) => childrenOf(one, 'SegmentURL'))
      .filter((some) => some.length > 0)
      .at(-1) ?? [];
  const head = list.flatMap((one) => childrenOf(one, 'Initialization')).at(-1);
  const init = head && pieceOf(head, 'sourceURL', 'range');
  return timesOf(list, source, urls.length).map(({ time: _, ...times }, i) => ({
    ...pieceOf(urls[i], 'media', 'mediaRange'),
    ...(init && { init }),
    ...times,
  }));
}

/** Times of segments; `time` in the media's ticks. `most`: of a list. */
function timesOf(elements: readonly Element[], source: Source, most = Number.POSITIVE_INFINITY) {
  const { periodStartSeconds, periodSeconds, file, id } = source;
  const number = (name: string, otherwise: number) => Number(inherited(elements, name) ?? otherwise);
  const timescale = number('timescale', 1);
  const offset = number('presentationTimeOffset', 0);
  const end = offset + periodSeconds * timescale;
  const timeline = elements.flatMap((one) => childrenOf(one, 'SegmentTimeline')).at(-1);
  const entries = timeline && childrenOf(timeline, 'S');
  const ticks: { time: number; duration: number }[] = [];
  if (entries) {
    for (const [i, entry] of entries.entries()) {
      const own = (of: Element | undefined, name: string) => Number(of?.getAttribute(name) ?? Number.NaN);
      const previous = ticks.at(-1);
      let time = own(entry, 't') || (previous ? previous.time + previous.duration : 0);
      const duration = own(entry, 'd');
      if (!(duration > 0)) throw new InputError(placeOf({ file, field: id }), 'S@d above 0', duration);
      const repeats = own(entry, 'r') || 0;
      const until = own(entries[i + 1], 't') || end;
      const count = repeats < 0 ? Math.round((until - time) / duration) : repeats + 1;
      for (let k = 0; k < count && ticks.length < most; k++, time += duration) ticks.push({ time, duration });
    }
  } else {
    const duration = number('duration', most === 1 ? end - offset : 0);
    if (!(duration > 0)) throw new InputError(placeOf({ file, field: id }), 'a duration of segments', duration);
    // A remainder of a few ticks is a rounding error.
    const count = Math.min(most, Math.ceil((end - offset) / duration - 1e-3));
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
  return levels
    .map((level) => level.getAttribute(name) ?? undefined)
    .filter((value) => value !== undefined)
    .at(-1);
}

function childrenOf(element: Element, name: string): Element[] {
  return [...element.children].filter(({ tagName }) => tagName === name);
}

/** `<first>-<last>`. */
function rangeOf(text: string | undefined): Pick<Piece, 'start' | 'end'> {
  const [first, last] = text?.split('-').map(Number) ?? [];
  return first === undefined ? {} : { start: first, end: last! + 1 };
}

/** An ISO 8601 duration without years and months. */
function secondsOf(text: string | null): number | undefined {
  const found = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/.exec(text ?? '');
  if (!found) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = found.slice(1).map((part) => Number(part ?? 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}
