/** The colours and dashes of the timeline, from the page's styles. */

/** By place of the player, so that lines differ by more than colour. */
export const DASHES: readonly number[][] = [[], [9, 4], [2, 3], [12, 3, 2, 3]];

export type Palette = ReturnType<typeof readPalette>;

export function readPalette() {
  const style = getComputedStyle(document.documentElement);
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  // A build for older browsers has replaced `light-dark()`, so that there is one colour.
  const read = (name: string) =>
    style
      .getPropertyValue(`--${name}`)
      .match(/#\w+/g)!
      .at(isDark ? -1 : 0)!;
  return {
    players: DASHES.map((_, place) => read(`player-${place}`)),
    axis: read('text-soft'),
    grid: read('line'),
    capacity: read('capacity'),
    capacityLine: read('capacity-line'),
    handover: read('handover'),
    stall: read('stall'),
    startup: read('startup'),
    panel: read('panel'),
    veil: withAlpha(read('panel'), 0.62),
  };
}

/** A colour, which a build may have shortened to `#rgb`, with an alpha of 0 to 1. */
export function withAlpha(colour: string, alpha: number): string {
  const hex = colour.replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3');
  return `${hex}${Math.round(alpha * 255)
    .toString(16)
    .padStart(2, '0')}`;
}
