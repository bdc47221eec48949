// Single values as fields of delimited text and as JSON, as files have them.
import { CsvFieldWriter } from '../../format/csv/csv-field.ts';
import type { Atom } from '../../value/atom.ts';
import { atomText } from '../../value/text.ts';
import { Timestamp } from '../../value/timestamp.ts';
import type { LineForm } from './line-form.ts';

/** The bytes of a value that is not null; undefined for one that has no form. */
export type CellText = (atom: Exclude<Atom, null>) => Uint8Array | undefined;

export function cellTextOf(form: LineForm): CellText {
  if (form.kind === 'csv') {
    const fields = new CsvFieldWriter(form);
    return (atom) =>
      atom instanceof Uint8Array ? fields.bytes(atom) : Buffer.from(fields.text(atomText(atom)));
  }
  return (atom) => {
    const text = fileJson(atom);
    return text === 'null' ? undefined : Buffer.from(text);
  };
}

/** JSON that other programs read: no text form for what JSON has not. */
export function fileJson(atom: Atom): string {
  if (atom === null) return 'null';
  if (typeof atom === 'number') return Number.isFinite(atom) ? String(atom) : 'null';
  if (typeof atom === 'bigint') return atom.toString();
  if (typeof atom === 'string') return JSON.stringify(atom);
  if (atom instanceof Uint8Array) return JSON.stringify(Buffer.from(atom).toString('base64'));
  if (atom instanceof Timestamp && !Number.isFinite(atom.seconds)) return 'null';
  return JSON.stringify(atomText(atom));
}
