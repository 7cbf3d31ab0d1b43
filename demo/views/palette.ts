/** The colours of the timeline, from the page's styles, and its dashes. */

/** The dashes by place of the player, so that lines differ by more than colour. */
export const DASHES: readonly number[][] = [[], [9, 4], [2, 3], [12, 3, 2, 3]];

export type Palette = ReturnType<typeof readPalette>;

export function readPalette() {
  const style = getComputedStyle(document.documentElement);
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  // If a build for older browsers has replaced `light-dark()`, the value has a single colour.
  const read = (name: string) => {
    const colours = style.getPropertyValue(`--${name}`).match(/#\w+/g)!;
    return colours.at(isDark ? -1 : 0)!;
  };
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

/** Adds an alpha from 0 to 1 to a colour, which a build may have shortened to `#rgb`. */
export function withAlpha(colour: string, alpha: number): string {
  const hex = colour.replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3');
  const digits = Math.round(alpha * 255).toString(16);
  return hex + digits.padStart(2, '0');
}
