/** A report in no particular format: sections of text, tables and figures, for `html.ts` and `markdown.ts` to write. */

export interface ReportDocument {
  title: string;
  /** One or two sentences under the title. */
  abstract: string[];
  /** Before the contents. Default: none. */
  opening?: Section;
  sections: Section[];
}

export interface Section {
  /** Its anchor; unique in the document. */
  id: string;
  title: string;
  level: 2 | 3;
  blocks: Block[];
}

/** Texts may contain `code` in backticks, and no other markup. */
export type Block =
  | { kind: 'text'; text: string }
  | { kind: 'list'; items: string[] }
  | Table
  | { kind: 'figures'; figures: Figure[]; width: FigureWidth; legend?: LegendEntry[] };

/** Two or three figures in a row. */
export type FigureWidth = 'half' | 'third';

export type Cell = string | { text: string; strong: boolean };

/** Columns of names, left-aligned, then columns of numbers, right-aligned. Cells do not wrap. */
export interface Table {
  kind: 'table';
  caption: string;
  /** Titles of the columns. */
  names: string[];
  numbers?: string[];
  /** The last column of names holds long text, which may wrap. */
  endsInText?: boolean;
  /** The first cell is the row's header. */
  rows: Cell[][];
}

export interface Figure {
  /** Above the picture. Default: none. */
  title?: string;
  caption: string;
  /** Text alternative, for readers who cannot see the figure. */
  label: string;
  /** Returns inline SVG; called when the figure is written. */
  draw(): string;
}

export interface LegendEntry {
  name: string;
  style: SeriesStyle;
}

/** The look of a series in all figures: colour, dash and symbol differ, so that no reader depends on one of them. */
export interface SeriesStyle {
  /** A CSS variable, which has values for light, dark and print. */
  color: string;
  dash: string | undefined;
  symbol: 'circle' | 'square' | 'triangle' | 'diamond' | 'star' | 'cross' | 'wye';
}

export function cellText(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

/** A column: its title, and its cell in each row. */
export type Column<Row> = readonly [title: string, cellOf: (row: Row) => Cell];

export const ALGORITHM: Column<{ algorithm: string }> = ['algorithm', ({ algorithm }) => algorithm];

/** The table with a line per row. */
export function tableOf<Row>(
  caption: string,
  { names, numbers }: { names: readonly Column<Row>[]; numbers: readonly Column<Row>[] },
  rows: readonly Row[],
): Table {
  const titles = (columns: readonly Column<Row>[]) => columns.map(([title]) => title);
  const cells = (row: Row) => [...names, ...numbers].map(([, cellOf]) => cellOf(row));
  return { kind: 'table', caption, names: titles(names), numbers: titles(numbers), rows: rows.map(cells) };
}
