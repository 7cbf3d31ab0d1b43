/** Writes the document as Markdown: text and tables. Only the HTML page has the figures. */

import type { Block, ReportDocument, Table } from './document.ts';
import { type Cell, cellText } from './format.ts';

export function* markdown({ title, opening, sections }: ReportDocument): Generator<string> {
  yield `# ${title}\n\n`;
  for (const { title: heading, level, blocks } of [opening, ...sections]) {
    yield `${'#'.repeat(level)} ${heading}\n\n`;
    for (const block of blocks) yield blockMarkdown(block);
  }
}

function blockMarkdown(block: Block): string {
  switch (block.kind) {
    case 'text':
      return `${block.text}\n\n`;
    case 'list':
      return `${block.items.map((item) => `- ${item}`).join('\n')}\n\n`;
    case 'table':
      return `${tableMarkdown(block)}\n`;
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
