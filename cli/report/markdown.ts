/** Writes the document as Markdown, and for a terminal: text and tables. Only the HTML page has the figures. */

import { textTable } from '../../replay/formats/text-table.ts';
import type { Block, ReportDocument, Table } from './document.ts';
import { type Cell, cellText } from './format.ts';

export function* markdown(document: ReportDocument, table = tableMarkdown): Generator<string> {
  yield `# ${document.title}\n\n`;
  for (const { title: heading, level, blocks } of [document.opening, ...document.sections]) {
    yield `${'#'.repeat(level)} ${heading}\n\n`;
    for (const block of blocks) yield blockMarkdown(block, table);
  }
}

/** For a terminal: tables are aligned. */
export function plainText(document: ReportDocument): Iterable<string> {
  return markdown(document, ({ caption, names, numbers = [], rows }) => {
    const lines = textTable([[...names, ...numbers], ...rows.map((row) => row.map(cellText))], names.length);
    return `${[caption, '', ...lines].join('\n')}\n`;
  });
}

function blockMarkdown(block: Block, table: (table: Table) => string): string {
  switch (block.kind) {
    case 'text':
      return `${block.text}\n\n`;
    case 'list':
      return `${block.items.map((item) => `- ${item}`).join('\n')}\n\n`;
    case 'table':
      return `${table(block)}\n`;
    case 'figures':
      return '';
  }
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
  return typeof cell !== 'string' && cell.strong ? `**${text}**` : text;
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
