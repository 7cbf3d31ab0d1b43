/** A report without a format: sections of text, tables and figures, which `html.ts` and `markdown.ts` write. */

import type { Estimate } from '../../replay/results.ts';
import { type Cell, estimateCell, fixed } from './format.ts';

export type ReportDocument = { title: string; opening: Section; sections: Section[] };

export interface Section {
  /** The anchor, unique in the document. */
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
  | { kind: 'figures'; figures: Figure[] };

/** Columns of names are left-aligned. Columns of numbers follow and are right-aligned. Cells do not wrap. */
export interface Table {
  kind: 'table';
  caption: string;
  names: string[];
  numbers?: string[];
  /** Folded on the page until the reader opens it. */
  isFolded?: boolean;
  /** The last column of names holds long text, which may wrap. */
  endsInText?: boolean;
  /** The first cell is the row's header. */
  rows: Cell[][];
}

export interface Figure {
  title: string;
  caption: string;
  /** Text alternative, for readers who cannot see the figure. */
  label: string;
  /** Returns inline SVG. The writer calls it when it writes the figure. */
  draw(): string;
}

/** The look of an algorithm in all figures. Colour and symbol both differ, so that either is enough for a reader. */
export interface SeriesStyle {
  /** A CSS variable with values for light, dark and print. */
  color: string;
  symbol: 'circle' | 'square' | 'triangle' | 'diamond' | 'star' | 'cross' | 'wye';
}

/** A column without `digits` has text. A difference has a sign, and is strong if its interval excludes 0. */
export interface Column<Row> {
  title: string;
  digits?: number;
  isDifference?: boolean;
  of(row: Row): string | number | Estimate | null | undefined;
}

export function cellOf<Row>({ of, digits = 0, isDifference = false }: Column<Row>, row: Row): Cell {
  const value = of(row);
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? estimateCell(value, { digits, isDifference }) : fixed(value, digits);
}

export function tableOf<Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): Table {
  const [names, numbers] = [false, true].map((isNumber) =>
    columns.filter(({ digits }) => (digits !== undefined) === isNumber).map(({ title }) => title),
  );
  const cells = rows.map((row) => columns.map((column) => cellOf(column, row)));
  return { kind: 'table', caption, names: names!, numbers: numbers!, rows: cells };
}
