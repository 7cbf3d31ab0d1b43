/** The page's icons as SVG paths: some fonts lack the characters, others draw them as emoji. */

const SHAPES = {
  cross: 'M2 2 L10 10 M10 2 L2 10',
  left: 'M8 2 L4 6 L8 10',
  right: 'M4 2 L8 6 L4 10',
  tick: 'M2 6.5 L5 9.5 L10 2.5',
} as const;

const SVG = 'http://www.w3.org/2000/svg';

/** An icon in the colour of its text. Screen readers skip it: say the same in words. */
export function icon(name: keyof typeof SHAPES): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 12 12');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', SHAPES[name]);
  svg.append(path);
  return svg;
}
