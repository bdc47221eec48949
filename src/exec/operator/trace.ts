// Tells EXPLAIN what operators over batches do, as they decide it: to what each expression was
// lowered, which vectors the columns lie in, and how many rows and bytes that gave.
import {
  COLUMN_COUNT_MAX,
  type ColumnNote,
  type ExpressionNote,
  type ExpressionWay,
  isEvaluated,
  type Observe,
} from '../../physical/observation.ts';
import type { PhysicalNode } from '../../physical/physical.ts';
import { printExpression } from '../../plan/explain-expression.ts';
import type { BoundExpression } from '../../plan/expression.ts';
import { mapExpression } from '../../plan/map-expression.ts';
import { expressionsOf } from '../../plan/map-plan.ts';
import type { PlanNode } from '../../plan/plan.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import { columnSpans } from '../../value/column/snapshot-memory.ts';
import { Path } from '../../value/path.ts';
import type { ColumnRows } from '../column-rows.ts';
import type { GroupColumn } from '../vector/group/group-column.ts';
import type { GroupTable } from '../vector/group/group-table.ts';
import type { VectorProgram } from '../vector/program/program.ts';
import { type ColumnScope, isWithoutRows, VectorTable } from '../vector/table.ts';
import { HIDDEN } from './outputs.ts';
import type { Output, Outputs, Pipeline, Stage } from './pipeline.ts';
import type { RunMemory } from './run-memory.ts';
import type { BatchTable } from './table/batch-table.ts';

/** A pipeline as an operator left it: those above add tables and conditions. */
interface Opened {
  readonly node: PlanNode;
  readonly pipeline: Pipeline;
  readonly outputs: Outputs;
  readonly stage: Stage;
  /** tables that its input looks up already */
  readonly buildsBefore: number;
}

interface Picked {
  readonly base: BatchTable;
  readonly rows: Uint32Array;
}

interface TraceOptions {
  readonly observe: Observe;
  readonly memory: RunMemory;
  /** true: no operator is given rows */
  readonly isDry: boolean;
  countRows(stage: Stage): number;
  /** The table and the numbers that rows were picked by; undefined when they were not. */
  picked(base: BatchTable): Picked | undefined;
}

export class Trace {
  readonly #options: TraceOptions;
  readonly #opened: Opened[] = [];
  /** nodes whose columns were told */
  readonly #made = new Set<PlanNode>();
  #node: PlanNode | undefined;
  /** bytes that the inputs of the node hold */
  #inputBytes = 0;

  constructor(options: TraceOptions) {
    this.#options = options;
  }

  /** An operator at work: what is told meanwhile is about it, or about those that it opens. */
  within<Made>(physical: PhysicalNode, work: () => Made): Made {
    const { logical: node, way } = physical;
    const { observe, memory } = this.#options;
    const [outer, outerInputBytes] = [this.#node, this.#inputBytes];
    const before = memory.sizeBytes;
    this.#node = node;
    this.#inputBytes = 0;
    observe(node, { way, bytes: 0 });
    try {
      const made = work();
      const bytes = memory.sizeBytes - before - this.#inputBytes;
      if (bytes > 0) observe(node, { bytes });
      return made;
    } finally {
      this.#node = outer;
      this.#inputBytes = outerInputBytes + memory.sizeBytes - before;
    }
  }

  /** Rows that are all made. @param since when it began, with everything below it */
  whole(node: PlanNode, rowCount: number, since: number): void {
    this.#options.observe(node, { rowCount, milliseconds: performance.now() - since });
  }

  /** What an operator hands on. */
  opened(node: PlanNode, pipeline: Pipeline): void {
    const { base, scope, filter, outputs } = pipeline;
    const builds = [...pipeline.builds];
    const inputs = this.#opened.filter((each) => each.pipeline === pipeline);
    const buildsBefore = inputs.at(-1)?.stage.builds.length ?? 0;
    const stage = { base, scope, filter, builds };
    this.#opened.push({ node, pipeline, outputs, stage, buildsBefore });
  }

  /** The columns that the rows of a result were put into. */
  made(node: PlanNode, outputs: readonly Output[], { base }: Pipeline): void {
    const columns = outputs.flatMap(({ path }): ColumnNote[] => {
      const column = base.find([path.join(SEPARATOR)]);
      if (typeof column !== 'number') return [];
      return [{ name: nameOf(path), type: this.#typeOf(base.columns[column] as ColumnSnapshot) }];
    });
    this.#options.observe(node, { columns });
    this.#made.add(node);
  }

  /** Columns of a dataset that are handed on as they lie. */
  stored(node: PlanNode, outputs: readonly Output[], { base }: Pipeline): void {
    const table = this.#options.picked(base)?.base ?? base;
    const columns = outputs.slice(0, COLUMN_COUNT_MAX).flatMap(({ path, expression }) => {
      if (expression.kind !== 'column') return [];
      const column = columnWithoutLook(table, expression.path.slice(1));
      return column === undefined ? [] : [{ name: nameOf(path), type: this.#typeOf(column) }];
    });
    this.#options.observe(node, { columns, columnCount: outputs.length });
    this.#made.add(node);
  }

  /** Groups under the names that a select list gives them. */
  named(node: PlanNode, { columns, rowCount }: ColumnRows, since: number): void {
    const types = { codes: 'codes', numbers: 'float64', atoms: 'timestamp' } as const;
    const notes = columns.map(({ path, values }) => {
      return { name: path.toString(), type: types[values.kind] };
    });
    this.#options.observe(node, { columns: notes });
    this.#made.add(node);
    this.whole(node, rowCount, since);
  }

  groups(physical: PhysicalNode, { keys, aggregates }: GroupTable): void {
    const { logical: node } = physical;
    const names = namesOfGroups(physical);
    const all = [...keys, ...aggregates];
    const columns = all.map((column, index) => {
      return { name: names[index] ?? '', type: typeOfGroups(column) };
    });
    const bytes = all.reduce((sum, column) => sum + bytesOfGroups(column), 0);
    this.#options.observe(node, { columns, bytes });
    this.#made.add(node);
  }

  /** An expression that kernels evaluate. */
  lowered(expression: BoundExpression, program: VectorProgram, scope: ColumnScope): void {
    const ways = new Set<ExpressionWay>();
    const parts = partsOf(program);
    if (parts.some(isComputed)) ways.add('kernel program');
    const lookUps = parts.filter(isLookUp);
    if (lookUps.length > 0) ways.add('once per distinct value');
    if (ways.size === 0) ways.add('kernel program');
    const isOfMade = ({ columns }: ProgramPart) =>
      columns.some((column) => this.#isUnknown(scope.columns[column]));
    // How many values there will be decides whether they are gone through before.
    if (lookUps.some(isOfMade)) this.#tell(expression, WAYS_BY_VALUES, true);
    else this.#tell(expression, [...ways]);
  }

  /** An expression that is evaluated row by row, about these columns. */
  evaluated(
    expression: BoundExpression,
    way: 'generated JavaScript' | 'closure',
    columns: readonly ColumnSnapshot[],
  ): void {
    if (columns.some((column) => this.#isUnknown(column))) {
      this.#tell(expression, ['kernel program', 'once per distinct value', way], true);
    } else this.#tell(expression, [way]);
  }

  /** What is known only now that all was lowered and has run. */
  finish(): void {
    const { observe, countRows, isDry, picked: picksOf } = this.#options;
    for (const { node, pipeline, outputs, stage, buildsBefore } of this.#opened.splice(0)) {
      const { base, builds } = stage;
      if (node.kind === 'scan') observe(node, { columns: this.#readColumns(pipeline) });
      else if (!this.#made.has(node)) {
        observe(node, { columns: this.#columnsOf(outputs, pipeline) });
      }
      if (isDry) continue;
      observe(node, { rowCount: countRows(stage) });
      const own = builds.slice(buildsBefore);
      if (node.kind === 'scan' && base instanceof VectorTable) {
        observe(node, { bytes: bytesOf(base.columns) });
      } else if (own.length > 0) {
        observe(node, { bytes: own.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0) });
        continue;
      }
      const picked = builds.length === 0 ? picksOf(base) : undefined;
      if (picked !== undefined) {
        observe(node, { bytes: picked.rows.byteLength + bytesOf(base.columns) });
      }
    }
  }

  #tell(
    expression: BoundExpression,
    ways: readonly ExpressionWay[],
    isOpen: boolean | undefined = undefined,
  ): void {
    if (this.#node === undefined || !isEvaluated(expression)) return;
    const note: ExpressionNote = { text: printAbove(expression), ways, ...(isOpen && { isOpen }) };
    this.#options.observe(this.#node, { expressions: [note] });
  }

  /** Columns of a dataset that somebody asked for. */
  #readColumns({ base }: Pipeline): ColumnNote[] {
    return base.columns.map((column) => {
      return { name: new Path(column.path).toString(), type: this.#typeOf(column) };
    });
  }

  /** Columns that were asked for; others are never made. */
  #columnsOf(outputs: Outputs, { scope }: Pipeline): ColumnNote[] {
    const asked = new Map(
      scope.columns.map((column, number) => [scope.pathOf(number).join(SEPARATOR), column]),
    );
    const notes: ColumnNote[] = [];
    for (const { path, expression } of outputs.list() ?? []) {
      if (expression.kind !== 'column') {
        notes.push({ name: nameOf(path), type: 'evaluated by what reads it' });
        continue;
      }
      const column = asked.get(expression.path.join(SEPARATOR));
      if (column !== undefined) notes.push({ name: nameOf(path), type: this.#typeOf(column) });
    }
    return notes;
  }

  #typeOf(column: ColumnSnapshot): string {
    if (this.#isUnknown(column)) return 'decided by its values';
    return physicalType(column);
  }

  /** Whether a column is one that an operator would make, of which nobody knows the values. */
  #isUnknown(column: ColumnSnapshot | undefined): boolean {
    if (!this.#options.isDry || column === undefined) return false;
    if (isWithoutRows(column) || isInFile(column) || column.dictionary !== undefined) return false;
    return column.chunks.every(({ rowCount }) => rowCount === 0);
  }
}

const WAYS_BY_VALUES: readonly ExpressionWay[] = [
  ...(['kernel program', 'once per distinct value', 'generated JavaScript'] as const),
];
const WAYS_BY_ROWS: readonly ExpressionWay[] = [...WAYS_BY_VALUES, 'closure'];

/** Whether a look at the values of a column would read them. */
function isInFile(column: ColumnSnapshot): boolean {
  return Object.getOwnPropertyDescriptor(column, 'chunks')?.get !== undefined;
}

/** A column of a table; one of a dataset is not asked for, so that it need not be read. */
function columnWithoutLook(table: BatchTable, path: readonly string[]): ColumnSnapshot | undefined {
  if (table instanceof VectorTable) {
    const key = path.join(SEPARATOR);
    return table.snapshot.columns.find((column) => column.path.join(SEPARATOR) === key);
  }
  const column = table.find(path);
  return typeof column === 'number' ? table.columns[column] : undefined;
}

/** Expressions of an operator that nobody lowered, for want of the rows that it reads. */
export function openExpressions(node: PlanNode): ExpressionNote[] {
  return expressionsOf(node)
    .filter(isEvaluated)
    .map((expression) => {
      return { text: printExpression(expression), ways: WAYS_BY_ROWS, isOpen: true };
    });
}

/** Keys and aggregates, as the query has them. */
function namesOfGroups({ logical, inputs: [input] }: PhysicalNode): string[] {
  if (logical.kind !== 'aggregate') return input === undefined ? [] : namesOfGroups(input);
  return [
    ...logical.keys.map(printExpression),
    ...logical.aggregates.map(({ surface }) => surface),
  ];
}

/** What the values of a column lie in. */
function physicalType(column: ColumnSnapshot): string {
  if (isInFile(column)) return `${column.type} in a file`;
  const { chunks, dictionary } = column;
  const isStored = isWithoutRows(column);
  if (dictionary !== undefined) {
    if (!isStored && chunks.every(({ rowCount }) => rowCount === 0)) return 'codes';
    return `codes of ${dictionary.count} ${dictionary.kind === 'text' ? 'texts' : 'atoms'}`;
  }
  const kinds = new Set(
    chunks
      .map((chunk) => (chunk.kind === 'sparse' ? chunk.values : chunk))
      .filter(({ rowCount, kind }) => (isStored || rowCount > 0) && kind !== 'constant')
      .map(({ kind }) => kind),
  );
  return kinds.size === 0 ? 'constant' : [...kinds].join(' and ');
}

function typeOfGroups(column: GroupColumn): string {
  if (column.kind === 'codes') return 'codes';
  if (column.kind === 'values') return 'row values';
  return column.result === 'timestamp' ? 'timestamp' : 'float64';
}

function bytesOf(columns: readonly ColumnSnapshot[]): number {
  return columns.flatMap(columnSpans).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/** What an array takes for each object. */
const POINTER_SIZE = 8;

function bytesOfGroups(column: GroupColumn): number {
  if (column.kind === 'codes') return column.codes.byteLength;
  if (column.kind === 'values') return column.values.length * POINTER_SIZE;
  const { values, nulls, timed } = column;
  return values.byteLength + (nulls?.byteLength ?? 0) + (timed?.byteLength ?? 0);
}

/** One operation of a program, and the columns that it reads itself. */
interface ProgramPart {
  readonly op: VectorProgram['op'];
  readonly columns: readonly number[];
}

function isLookUp({ op }: ProgramPart): boolean {
  return (
    op === 'table' ||
    op === 'table-truth' ||
    op === 'table-codes' ||
    op === 'domain' ||
    op === 'domain-truth' ||
    op === 'domain-codes'
  );
}

function isComputed({ op }: ProgramPart): boolean {
  return op === 'compare' || op === 'arithmetic' || op === 'case' || op === 'hashed';
}

function partsOf(program: VectorProgram): ProgramPart[] {
  const parts: ProgramPart[] = [];
  const look = (part: VectorProgram): void => {
    const own = 'column' in part ? [part.column] : [];
    if ('parts' in part) {
      const digits = part.parts.flatMap((digit) => ('column' in digit ? [digit.column] : []));
      // Numbers that are looked up by a hash of theirs were not gone through before.
      const isHashed = part.parts.some(({ op }) => op === 'hashed');
      parts.push({ op: isHashed ? 'hashed' : part.op, columns: [...own, ...digits] });
      return;
    }
    parts.push({ op: part.op, columns: own });
    switch (part.op) {
      case 'case':
        for (const { when, result } of part.branches) {
          look(when);
          look(result);
        }
        look(part.otherwise);
        break;
      case 'arithmetic':
      case 'compare':
        look(part.left);
        look(part.right);
        break;
      case 'and':
      case 'or':
        part.operands.forEach(look);
        break;
      case 'not':
      case 'missing':
        look(part.operand);
        break;
    }
  };
  look(program);
  return parts;
}

/** An expression about the tables of a pipeline, without their numbers. */
function printAbove(expression: BoundExpression): string {
  const renamed = mapExpression(expression, (part) =>
    part.kind === 'column'
      ? { ...part, path: part.path.slice(1).flatMap((element) => element.split(SEPARATOR)) }
      : part,
  );
  return printExpression(renamed).replaceAll(HIDDEN, '');
}

const SEPARATOR = '\u0000';

function nameOf(path: readonly string[]): string {
  return new Path(path.flatMap((element) => element.split(SEPARATOR)).filter(Boolean)).toString();
}
