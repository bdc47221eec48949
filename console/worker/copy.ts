// A range of cells as text for other programs.
import type { CopyFormat, ResultColumn } from './protocol.ts';

export function copyText(
  format: CopyFormat,
  columns: readonly ResultColumn[],
  rows: readonly (readonly unknown[])[],
): string {
  const names = columns.map(({ name }) => name);
  switch (format) {
    case 'TSV':
      return [names, ...rows].map((row) => row.map(tsvField).join('\t')).join('\n');
    case 'CSV':
      return [names, ...rows].map((row) => row.map(csvField).join(',')).join('\n');
    case 'JSON':
      return JSON.stringify(
        rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]]))),
        null,
        1,
      );
    case 'Markdown':
      return [names, names.map(() => '---'), ...rows]
        .map((row) => `| ${row.map(markdownField).join(' | ')} |`)
        .join('\n');
    case 'SQL':
      return `VALUES\n${rows.map((row) => `  (${row.map(sqlLiteral).join(', ')})`).join(',\n')}`;
  }
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function tsvField(value: unknown): string {
  return plain(value).replace(/[\t\n\r]/g, ' ');
}

/** An empty text is quoted, so that it differs from NULL. */
function csvField(value: unknown): string {
  const text = plain(value);
  if (value === '' || /[",\n\r]|^\s|\s$/.test(text)) return `"${text.replaceAll('"', '""')}"`;
  return text;
}

function markdownField(value: unknown): string {
  return plain(value)
    .replaceAll('|', '\\|')
    .replace(/\s*\n\s*/g, ' ');
}

function sqlLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return `'${plain(value).replaceAll("'", "''")}'`;
}
