/** What a report says, whatever it is written as: sections of text, tables and figures. `html.ts` and `markdown.ts` write it. */

export interface ReportDocument {
  title: string;
  /** One or two sentences under the title. */
  abstract: string[];
  sections: Section[];
}

export interface Section {
  /** Of its anchor; unique in the document. */
  id: string;
  title: string;
  level: 2 | 3;
  blocks: Block[];
}

/** Texts may hold `code` in backticks and nothing else that is markup. */
export type Block =
  | { kind: 'text'; text: string }
  | { kind: 'list'; items: string[] }
  | Table
  | { kind: 'figures'; figures: Figure[]; width: FigureWidth; legend?: LegendEntry[] };

/** Figures in a row: one, two or three. */
export type FigureWidth = 'full' | 'half' | 'third';

export type Cell = string | { text: string; strong: boolean };

/** Names stand left, numbers after them and right; all stay on one line. */
export interface Table {
  kind: 'table';
  caption: string;
  /** Titles of the columns. */
  names: string[];
  numbers?: string[];
  /** The last column of names is text of any length. */
  endsInText?: boolean;
  /** The first cell heads its row. */
  rows: Cell[][];
}

export interface Figure {
  caption: string;
  /** What it shows, in words, for who cannot see it. */
  label: string;
  /** Inline SVG; drawn when the figure is written. */
  draw(): string;
}

export interface LegendEntry {
  name: string;
  style: SeriesStyle;
}

/** How a series looks everywhere: told apart by colour, dash and symbol, so that no single one is needed. */
export interface SeriesStyle {
  /** A CSS colour; a variable, so that light, dark and paper have their own. */
  color: string;
  dash: string | undefined;
  symbol: 'circle' | 'square' | 'triangle' | 'diamond' | 'star' | 'cross' | 'wye';
}

export function cellText(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}
