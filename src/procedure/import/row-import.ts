// The expressions of importers that read whole rows: select, where, named and timestamp over the
// columns that each row has, and where the rows go.

import { cellsOfRow } from '../../dataset/recorded-row.ts';
import { nameOfValue } from '../../exec/general/operator/project.ts';
import { compileExpression, compileSelect, type RowContext } from '../../exec/prepared-row.ts';
import type { ScopeFunctions } from '../../plan/scope/scope.ts';
import { atomType } from '../../plan/type/type.ts';
import { failure } from '../../util/error.ts';
import { TableBuilder } from '../../value/column/table-builder.ts';
import { Path } from '../../value/path.ts';
import { NOT_A_DATE, parseTimestamp, Timestamp } from '../../value/timestamp.ts';
import { constant, NULL_VALUE, type Row, Scalar, type Value } from '../../value/value.ts';
import type { OutputDataset, ProcedureContext } from '../procedure-type.ts';

export interface RowExpressions {
  readonly select: string;
  readonly where: string;
  readonly named: string;
  /** absent: that of the file */
  readonly timestamp?: string;
}

export const ROW_EXPRESSION_DEFAULTS = {
  select: '*',
  where: 'true',
  named: 'lineNumber()',
  timestamp: 'fileTimestamp()',
} as const;

const FUNCTIONS: ScopeFunctions = {
  lineNumber: atomType('integer'),
  fileTimestamp: atomType('timestamp'),
  dataFileUrl: atomType('string'),
  fileIndex: atomType('integer'),
};

/** True when every row is taken as it is, under its number. */
export function takesRowsAsTheyAre(expressions: RowExpressions): boolean {
  return (['select', 'where', 'named', 'timestamp'] as const).every((name) => {
    const text = expressions[name];
    return text === undefined || isDefault(name, text);
  });
}

function isDefault(name: keyof RowExpressions, text: string): boolean {
  const plain = (sql: string) => sql.replaceAll(/\s+/g, '').toLowerCase();
  return plain(text) === plain(ROW_EXPRESSION_DEFAULTS[name]);
}

/** Where a row comes from. */
export interface RowPlace {
  /** counted from 1 */
  readonly lineNumber: number;
  /** seconds since the epoch */
  readonly fileTimestamp: number;
  readonly dataFileUrl: string;
  readonly fileIndex: number;
}

/** Compiles the expressions once, then takes rows one by one into the output. */
export class RowImport {
  readonly #output: OutputDataset;
  readonly #table: TableBuilder | undefined;
  readonly #hasManyFiles: boolean;
  readonly #scope: RowContext['scope'];
  readonly #select: ReturnType<typeof compileSelect> | undefined;
  readonly #where: ReturnType<typeof compileExpression> | undefined;
  readonly #named: ReturnType<typeof compileExpression> | undefined;
  readonly #timestamp: ReturnType<typeof compileExpression> | undefined;
  #rowCount = 0;

  /** @throws what is wrong with the expressions */
  constructor(
    context: Pick<ProcedureContext, 'namespace' | 'scope' | 'arenas'>,
    expressions: RowExpressions,
    output: OutputDataset,
    hasManyFiles: boolean,
  ) {
    this.#output = output;
    this.#hasManyFiles = hasManyFiles;
    this.#scope = context.scope;
    this.#table = output.addsColumns ? new TableBuilder(context.arenas) : undefined;
    const options = { ...context, functions: FUNCTIONS };
    const compiled = (name: 'where' | 'named' | 'timestamp') => {
      const text = expressions[name];
      return text === undefined || isDefault(name, text)
        ? undefined
        : compileExpression(text, options);
    };
    const { select } = expressions;
    this.#select = isDefault('select', select) ? undefined : compileSelect(select, options);
    this.#where = compiled('where');
    this.#named = compiled('named');
    this.#timestamp = compiled('timestamp');
  }

  /** Rows that were recorded. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** First elements of the columns that are read; undefined: all of them. */
  get neededColumns(): readonly string[] | undefined {
    if (this.#select === undefined) return undefined;
    const all = [this.#select, this.#where, this.#named, this.#timestamp];
    const used = all.filter((one) => one !== undefined);
    if (used.some(({ readsAll }) => readsAll)) return undefined;
    return [...new Set(used.flatMap(({ variables }) => [...variables]))];
  }

  /** Records a row, unless `where` leaves it out. */
  add(input: Row, place: RowPlace): void {
    const context: RowContext = {
      call: (name) => scopeCall(name, place),
      ...(this.#scope === undefined ? {} : { scope: this.#scope }),
    };
    if (this.#where !== undefined && !this.#where.test(input, context)) return;
    const name = this.#nameOf(input, place, context);
    const row = this.#select === undefined ? input : this.#select.apply(input, context);
    const ts =
      this.#timestamp === undefined
        ? undefined
        : secondsOf(this.#timestamp.evaluate(input, context));
    const cells = cellsOfRow(row).map(
      ([column, atom, cellTs]) =>
        [column, atom, ts ?? (Number.isFinite(cellTs) ? cellTs : place.fileTimestamp)] as const,
    );
    if (this.#table === undefined) this.#output.record({ name, cells });
    else this.#table.addRow(name, cells);
    this.#rowCount++;
  }

  /** Hands everything over; `commit` of the dataset is still to come. */
  finish(): void {
    if (this.#table === undefined) return;
    if (this.#rowCount > 0) this.#output.recordColumns(this.#table.seal());
    else this.#table.release();
  }

  #nameOf(input: Row, { fileIndex, lineNumber }: RowPlace, context: RowContext): Path {
    if (this.#named !== undefined) {
      const value = this.#named.evaluate(input, context);
      if (!(value instanceof Scalar)) {
        throw failure(
          'SQL_EXECUTION',
          "Cannot convert value of type 'row' to a row name: the expression named must give one value",
        );
      }
      return nameOfValue(value);
    }
    return this.#hasManyFiles
      ? Path.of(String(fileIndex), String(lineNumber))
      : Path.of(String(lineNumber));
  }
}

function scopeCall(name: string, place: RowPlace): Value {
  switch (name) {
    case 'lineNumber':
      return constant(place.lineNumber);
    case 'fileIndex':
      return constant(place.fileIndex);
    case 'fileTimestamp':
      return constant(new Timestamp(place.fileTimestamp));
    case 'dataFileUrl':
      return constant(place.dataFileUrl);
    default:
      return NULL_VALUE;
  }
}

/** The timestamp that a value stands for: a timestamp, seconds, or ISO 8601 text. */
export function secondsOf(value: Value): number {
  if (!(value instanceof Scalar)) {
    throw failure('SQL_EXECUTION', 'the expression timestamp must give one value, not a row');
  }
  const { atom } = value;
  if (atom === null) return NOT_A_DATE;
  if (atom instanceof Timestamp) return atom.seconds;
  if (typeof atom === 'number' || typeof atom === 'bigint') return Number(atom);
  const seconds = typeof atom === 'string' ? parseTimestamp(atom) : null;
  if (seconds !== null) return seconds;
  throw failure('SQL_EXECUTION', `the expression timestamp gives no timestamp: ${String(atom)}`);
}
