// JSON documents, one a line.
import type { Atom } from '../../value/atom.ts';
import { Path } from '../../value/path.ts';
import { Timestamp } from '../../value/timestamp.ts';
import { parseDocument, visitJson } from '../json/json-columns.ts';
import type { Guess, GuessedColumn } from './guessed-import.ts';
import { type Sample, sampleLines } from './sample.ts';

const LINE_COUNT_MAX = 1000;

/** Undefined when the sample does not begin with documents. */
export function guessJson(sample: Sample, rowCount: number): Guess | undefined {
  const lines = sampleLines(sample)
    .slice(0, LINE_COUNT_MAX)
    .map((line) => Buffer.from(line, 'latin1').toString('utf8'));
  const rows: Map<string, Atom>[] = [];
  const columns = new Map<string, Atom[]>();
  let badCount = 0;
  for (const line of lines) {
    let document: unknown;
    try {
      document = parseDocument(line);
    } catch {
      badCount++;
      continue;
    }
    if (typeof document !== 'object' || document === null) {
      badCount++;
      continue;
    }
    const row = new Map<string, Atom>();
    visitJson(document, 'parse', (path, atom) => {
      const name = new Path(path).toString();
      row.set(name, atom);
      const values = columns.get(name);
      if (values === undefined) columns.set(name, [atom]);
      else values.push(atom);
    });
    rows.push(row);
  }
  if (rows.length === 0 || badCount > rows.length) return undefined;
  const warnings: string[] = [];
  if (badCount > 0) {
    warnings.push(
      `${badCount} of the first ${lines.length} lines are no documents; ignoreBadLines skips them`,
    );
  }
  if (lines.length === 1 && lines[0]?.trimStart().startsWith('[') === true) {
    warnings.push('the file is one array: it becomes one row; write one document a line instead');
  }
  const names = [...columns.keys()];
  return {
    type: 'import.json',
    params: badCount > 0 ? { ignoreBadLines: true } : {},
    confidence: { format: rows.length / lines.length },
    columns: names.map((name): GuessedColumn => ({ name, type: typeOf(columns.get(name) ?? []) })),
    rows: rows.slice(0, rowCount).map((row) => names.map((name) => row.get(name) ?? null)),
    warnings,
  };
}

/** The type of the column that values make. */
export function typeOf(atoms: readonly Atom[]): GuessedColumn['type'] {
  const values = atoms.filter((atom) => atom !== null);
  if (values.length === 0) return 'null';
  if (values.every((atom) => typeof atom === 'string')) return 'string';
  if (values.every((atom) => atom instanceof Timestamp)) return 'timestamp';
  if (values.some((atom) => typeof atom !== 'number' && typeof atom !== 'bigint')) return 'mixed';
  const isWhole = values.every((atom) => typeof atom === 'bigint' || Number.isInteger(atom));
  return isWhole ? 'integer' : 'number';
}
