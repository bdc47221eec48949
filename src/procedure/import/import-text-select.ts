// The expressions of import.text over the columns of a text.
import { nameOfValue } from '../../exec/general/operator/project.ts';
import { compileWildcard } from '../../exec/general/wildcard.ts';
import type { PreparedExpression, PreparedSelect, RowContext } from '../../exec/prepared-row.ts';
import { compileExpression, compileSelect } from '../../exec/prepared-row.ts';
import type { TextColumn } from '../../format/csv/header.ts';
import { childrenOf } from '../../plan/children.ts';
import type { BoundExpression, ProjectItem } from '../../plan/expression.ts';
import type { ScopeFunctions } from '../../plan/scope/scope.ts';
import { atomType, type ValueType } from '../../plan/type/type.ts';
import { failure } from '../../util/error.ts';
import { normalizeInteger } from '../../value/atom.ts';
import { Path } from '../../value/path.ts';
import { hashPath } from '../../value/path-hash.ts';
import { MINUS_INFINITY, Timestamp } from '../../value/timestamp.ts';
import {
  constant,
  flatten,
  NULL_VALUE,
  type Row,
  RowBuilder,
  Scalar,
  type Value,
} from '../../value/value.ts';
import type { ProcedureContext } from '../procedure-type.ts';
import type { ImportTextParams } from './import-text-parameters.ts';
import { secondsOf } from './row-import.ts';

const DEFAULT = {
  where: /^\s*true\s*$/i,
  named: /^\s*lineNumber\s*\(\s*\)\s*$/,
  timestamp: /^\s*fileTimestamp\s*\(\s*\)\s*$/,
} as const;

const FUNCTIONS: ScopeFunctions = {
  lineNumber: atomType('integer'),
  rowHash: atomType('integer'),
  fileTimestamp: atomType('timestamp'),
  dataFileUrl: atomType('string'),
  fileIndex: atomType('integer'),
  lineOffset: atomType('integer'),
};

/** A column of the output that is a column of the text as it stands. */
export interface CopiedColumn {
  readonly path: Path;
  /** position among the text's columns */
  readonly column: number;
}

/** What the functions of the scope say of the line that is being read. */
export interface LineState {
  lineNumber: number;
  fileTimestamp: number;
  dataFileUrl: string;
  fileIndex: number;
  rowName: Path;
}

/** The expressions, bound to the columns of a text; absent ones are as by default. */
export interface TextExpressions {
  /** present when every output column is a column of the text */
  readonly copied: readonly CopiedColumn[] | undefined;
  /** names of all output columns, when they are the same for every line */
  readonly outputPaths: readonly Path[] | undefined;
  /** for each column of the text, whether some expression reads it */
  readonly used: readonly boolean[];
  select(input: Row): Row;
  readonly where: ((input: Row) => boolean) | undefined;
  readonly name: ((input: Row) => Path) | undefined;
  readonly timestamp: ((input: Row) => number) | undefined;
}

/** @throws what is wrong with the expressions */
export function bindExpressions(
  params: ImportTextParams,
  columns: readonly TextColumn[],
  context: Pick<ProcedureContext, 'namespace' | 'scope'>,
  line: LineState,
): TextExpressions {
  const rowContext: RowContext = { call: (name) => scopeCall(name, line), scope: context.scope };
  const options = {
    ...context,
    inputType: rowTypeOf(columns),
    functions: FUNCTIONS,
    checkColumn: columnCheck(columns),
  };
  const select = compileSelect(params.select, options);
  checkSelect(select.items);
  const whereText = DEFAULT.where.test(params.where) ? undefined : params.where;
  const namedText = DEFAULT.named.test(params.named) ? undefined : params.named;
  const timestampText = DEFAULT.timestamp.test(params.timestamp) ? undefined : params.timestamp;
  const where = whereText === undefined ? undefined : compileExpression(whereText, options);
  const named = namedText === undefined ? undefined : compileExpression(namedText, options);
  if (named !== undefined) refuseRowHash(named.expression);
  const timestamp =
    timestampText === undefined ? undefined : compileExpression(timestampText, options);
  const copied = copiedColumns(select.items, columns);
  const prepared = [select, where, named, timestamp].filter((one) => one !== undefined);
  return {
    copied,
    outputPaths: copied?.map(({ path }) => path) ?? outputPaths(select.items, columns),
    used: usedColumns(columns, prepared, copied),
    select: (input) => checkedRow(select, select.apply(input, rowContext)),
    where: where && ((input) => where.test(input, rowContext)),
    name: named && ((input) => nameOfValue(named.evaluate(input, rowContext))),
    timestamp: timestamp && ((input) => secondsOf(timestamp.evaluate(input, rowContext))),
  };
}

function scopeCall(name: string, line: LineState): Value {
  switch (name) {
    case 'lineNumber':
      return constant(line.lineNumber);
    case 'fileIndex':
      return constant(line.fileIndex);
    case 'fileTimestamp':
      return constant(new Timestamp(line.fileTimestamp));
    case 'dataFileUrl':
      return constant(line.dataFileUrl);
    case 'lineOffset':
      return constant(0);
    case 'rowHash':
      return constant(normalizeInteger(hashPath(line.rowName)));
    default:
      return NULL_VALUE;
  }
}

/** The row as it is known before any line is read: these members, each an atom. */
function rowTypeOf(columns: readonly TextColumn[]): ValueType {
  const names = new Map<string, ValueType>();
  for (const { path } of columns) {
    if (path === undefined) continue;
    const [name = ''] = path.elements;
    // What is nested below is left open: it is only there to find the columns.
    const type: ValueType =
      path.length === 1 ? atomType('atom') : { kind: 'row', members: [], open: true };
    names.set(name, names.has(name) ? { kind: 'any' } : type);
  }
  return {
    kind: 'row',
    members: [...names].map(([name, type]) => ({ name, type })),
    open: false,
  };
}

function columnCheck(columns: readonly TextColumn[]): (path: readonly string[]) => void {
  const paths = columns.flatMap(({ path }) => (path === undefined ? [] : [path]));
  return (elements) => {
    const wanted = new Path(elements);
    if (paths.some((path) => path.startsWith(wanted))) return;
    const isQualified =
      elements.length > 1 && !paths.some((path) => path.elements[0] === elements[0]);
    const what = isQualified ? 'Unknown table name' : 'Unknown column name';
    throw failure('SQL_BINDING', `${what} in import.text procedure: ${wanted}`, {
      columnName: wanted.toString(),
      knownColumnNames: paths.map(String),
    });
  };
}

/** Values of rows cannot be columns, and a name can be given only once. */
function checkSelect(items: readonly ProjectItem[]): void {
  const names = new Set<string>();
  for (const item of items) {
    if (item.kind !== 'named') continue;
    if (canBeRow(item.expression)) throw rowValued();
    const name = new Path(item.path).toString();
    if (names.has(name)) throw duplicateName(name);
    names.add(name);
  }
}

function canBeRow(expression: BoundExpression): boolean {
  const { kind } = expression.type;
  if (kind === 'row' || kind === 'embedding') return true;
  return expression.kind === 'case' && childrenOf(expression).some(canBeRow);
}

function rowValued(): Error {
  return failure(
    'SQL_BINDING',
    'Import select expression cannot have row-valued columns. Use AS * to write the members of a row as columns',
  );
}

function duplicateName(name: string): Error {
  return failure('SQL_BINDING', `Duplicate column name in select expression: ${name}`, {
    columnName: name,
  });
}

function refuseRowHash(expression: BoundExpression): void {
  if (expression.kind === 'scope-call' && expression.name === 'rowHash') {
    throw failure('SQL_BINDING', 'rowHash() not available in this scope: named makes the row name');
  }
  for (const child of childrenOf(expression)) refuseRowHash(child);
}

/** Expressions whose type is not known beforehand are looked at when they have a value. */
function checkedRow(select: PreparedSelect, row: Row): Row {
  for (const item of select.items) {
    if (item.kind !== 'named' || item.path.length !== 1 || item.expression.type.kind !== 'any') {
      continue;
    }
    for (const value of row.all(item.path[0] as string)) {
      if (!(value instanceof Scalar)) throw rowValued();
    }
  }
  return row;
}

/** The columns of a select list that only picks and renames columns. */
function copiedColumns(
  items: readonly ProjectItem[],
  columns: readonly TextColumn[],
): CopiedColumn[] | undefined {
  const copied: CopiedColumn[] = [];
  for (const item of items) {
    if (item.kind === 'wildcard' && item.source === 'input') {
      copied.push(...wildcardColumns(item, columns));
    } else if (item.kind === 'named' && item.expression.kind === 'column') {
      const source = new Path(item.expression.path);
      const column = columns.findIndex(({ path }) => path?.equals(source));
      // A row of several columns is no column.
      if (column === -1) throw rowValued();
      copied.push({ path: new Path(item.path), column });
    } else return undefined;
  }
  checkDistinct(copied.map(({ path }) => path));
  return copied;
}

/** What a wildcard makes of each column, found by sending the positions of columns through it. */
function wildcardColumns(
  item: Extract<ProjectItem, { kind: 'wildcard' }>,
  columns: readonly TextColumn[],
): CopiedColumn[] {
  const positions = new RowBuilder();
  columns.forEach(({ path }, index) => {
    if (path !== undefined) positions.addPath(path, new Scalar(index, MINUS_INFINITY));
  });
  const into = new RowBuilder();
  compileWildcard(item.pattern)(positions.build(), into);
  const copied: CopiedColumn[] = [];
  flatten(into.build(), [], (path, atom) => copied.push({ path, column: atom as number }));
  // The order of the text, not that of the names.
  return copied.sort((a, b) => a.column - b.column);
}

/** The names of all output columns, if they can be told before any line is read. */
function outputPaths(
  items: readonly ProjectItem[],
  columns: readonly TextColumn[],
): Path[] | undefined {
  const paths: Path[] = [];
  for (const item of items) {
    if (item.kind === 'wildcard' && item.source === 'input') {
      paths.push(...wildcardColumns(item, columns).map(({ path }) => path));
    } else if (item.kind === 'named') paths.push(new Path(item.path));
    else return undefined;
  }
  checkDistinct(paths);
  return paths;
}

function checkDistinct(paths: readonly Path[]): void {
  const names = new Set<string>();
  for (const path of paths) {
    const name = path.toString();
    if (names.has(name)) throw duplicateName(name);
    names.add(name);
  }
}

function usedColumns(
  columns: readonly TextColumn[],
  prepared: readonly (PreparedSelect | PreparedExpression)[],
  copied: readonly CopiedColumn[] | undefined,
): boolean[] {
  const names = new Set<string>();
  let readsAll = false;
  for (const one of prepared) {
    // Columns that are copied are known one by one.
    if ('items' in one && copied !== undefined) continue;
    readsAll ||= one.readsAll;
    for (const name of one.variables) names.add(name);
  }
  const taken = new Set(copied?.map(({ column }) => column));
  return columns.map(
    ({ path }, index) =>
      path !== undefined && (readsAll || taken.has(index) || names.has(path.elements[0] as string)),
  );
}
