/** Writes the document's text and tables as Markdown or for a terminal. Only the HTML page has the figures. */

import { textTable } from '../../replay/formats/text-table.ts';
import type { Block, ReportDocument, Table } from './document.ts';
import { type Cell, cellText, isStrong } from './format.ts';

export function* markdown(document: ReportDocument, table = tableMarkdown): Generator<string> {
  yield `# ${document.title}\n\n`;
  for (const { title: heading, level, blocks } of [document.opening, ...document.sections]) {
    yield `${'#'.repeat(level)} ${heading}\n\n`;
    for (const block of blocks) yield blockMarkdown(block, table);
  }
}

/** Writes the document for a terminal, with aligned tables. */
export function plainText(document: ReportDocument): Iterable<string> {
  return markdown(document, ({ caption, names, numbers = [], rows }) => {
    const lines = textTable([[...names, ...numbers], ...rows.map((row) => row.map(cellText))], names.length);
    return `${[caption, '', ...lines].join('\n')}\n`;
  });
}

function blockMarkdown(block: Block, table: (table: Table) => string): string {
  if (block.kind === 'text') return `${block.text}\n\n`;
  if (block.kind === 'list') return `${block.items.map((item) => `- ${item}`).join('\n')}\n\n`;
  return block.kind === 'table' ? `${table(block)}\n` : '';
}

function tableMarkdown({ caption, names, numbers = [], rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  return [
    `${caption}\n\n`,
    line([...names, ...numbers].map(escaped)),
    line([...names.map(() => '---'), ...numbers.map(() => '---:')]),
    ...rows.map((row) => line(row.map(cellMarkdown))),
  ].join('');
}

function cellMarkdown(cell: Cell): string {
  const text = escaped(cellText(cell));
  return isStrong(cell) ? `**${text}**` : text;
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
