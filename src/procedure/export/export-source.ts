// What is exported as columns, for formats that are written by column: those of a dataset where the
// query only picks columns, else what operators make of them.
import { openResultColumns } from '../../exec/operator/plan-columns.ts';
import type { LineForm } from '../../exec/row-text/line-form.ts';
import { writeRowText } from '../../exec/row-text/write-row-text.ts';
import { VECTOR_ROW_COUNT_MIN } from '../../exec/vector/engine.ts';
import type { FileSink } from '../../file/scheme.ts';
import type { ProjectItem } from '../../plan/expression.ts';
import type { QueryPlan } from '../../plan/plan.ts';
import type { InputQuery } from '../../schema/declare.ts';
import type { ColumnSnapshot, RowNames } from '../../value/column/snapshot.ts';
import { Path } from '../../value/path.ts';
import type { ProcedureContext } from '../procedure-type.ts';
import { storedColumns } from '../queried-columns.ts';
import { knownItemColumns } from './export-columns.ts';

export interface ExportColumn {
  readonly path: Path;
  readonly column: ColumnSnapshot;
}

export interface ExportSource {
  readonly rowCount: number;
  /** the columns of each item, as far as they are known without the rows */
  readonly known: readonly (readonly Path[] | undefined)[];
  /** absent: rows have to be made one by one */
  readonly columns: readonly ExportColumn[] | undefined;
  readonly chunkRowCounts: readonly number[];
  /** absent: only the rows tell them */
  readonly rowNames: RowNames | undefined;
  /** Gives back what was made. */
  release(): void;
}

/** @throws what parsing and binding throw */
export function openExportSource(context: ProcedureContext, query: InputQuery): ExportSource {
  const { arenas, parallel } = context;
  let known: ExportSource['known'] = [];
  let stored: ReturnType<typeof storedSource>;
  const prepared = context.query(query, (plan) => {
    known = knownItemColumns(plan, context.namespace);
    stored = storedSource(plan, known, context);
    return plan;
  });
  if (stored !== undefined) return { ...stored, known, release() {} };
  const engine = { arenas, parallel, rowCountMin: VECTOR_ROW_COUNT_MIN };
  const made = openResultColumns(prepared.plan.root, prepared.runtime, engine);
  return {
    rowCount: made?.rowCount ?? 0,
    known,
    columns: made?.columns,
    chunkRowCounts: made?.columns[0]?.column.chunks.map(({ rowCount }) => rowCount) ?? [],
    rowNames: undefined,
    release: () => made?.release(),
  };
}

/** The columns of a dataset that a plan picks; undefined where rows have to be made. */
function storedSource(
  plan: QueryPlan,
  known: ExportSource['known'],
  context: ProcedureContext,
):
  | (ExportSource & { readonly columns: readonly ExportColumn[]; readonly rowNames: RowNames })
  | undefined {
  const { root } = plan;
  if (root.kind !== 'project' || root.input.kind !== 'scan') return undefined;
  // Names of rows stay only where nobody gives others.
  if (root.name !== undefined && !isOwnName(root.name)) return undefined;
  const columns = storedColumns(plan, known, context)?.columns;
  const { snapshot } = context.namespace.dataset(root.input.dataset);
  if (columns === undefined || snapshot?.layout !== 'columnar') return undefined;
  return {
    rowCount: snapshot.rowCount,
    known,
    columns: columns.map((column) => ({ path: new Path(column.path), column })),
    chunkRowCounts: snapshot.chunkRowCounts,
    rowNames: snapshot.rowNames,
    release() {},
  };
}

function isOwnName(name: Extract<ProjectItem, { kind: 'named' }>['expression']): boolean {
  return name.kind === 'call' && /^rowpath$/i.test(name.name);
}

/** Whether the columns are those of the select list, in its order. */
export function isInOrder({ columns, known }: ExportSource): boolean {
  if (columns === undefined) return false;
  const paths: Path[] = [];
  for (const item of known) {
    if (item === undefined) return false;
    paths.push(...item);
  }
  return (
    paths.length === columns.length &&
    columns.every(({ path }, index) => paths[index]?.equals(path) === true)
  );
}

/** Details of a run: how the file was written; `why` says what kept it from being written by column. */
export interface WrittenBy {
  readonly writtenBy: 'columns' | 'rows';
  readonly why?: string;
}

/** @param why absent: nothing keeps the file from being written by column */
export function writtenBy(why: string | undefined): WrittenBy {
  return why === undefined ? { writtenBy: 'columns' } : { writtenBy: 'rows', why };
}

/** What a source says that has no columns. */
export const ROWS_ARE_MADE = 'the query is computed row by row: EXPLAIN of it says why';

export interface WriteOptions {
  readonly form: LineForm;
  readonly sink: FileSink;
  /** names of rows are one more column, behind the others */
  readonly withRowNames?: boolean;
  report(rowCount: number): void;
}

/** Writes columns as lines. @returns how many */
export async function writeExportSource(
  context: ProcedureContext,
  { columns = [], rowNames, chunkRowCounts, rowCount }: ExportSource,
  { form, sink, report, withRowNames }: WriteOptions,
): Promise<number> {
  const written = {
    columns: columns.map(({ column }) => column),
    rowNames: withRowNames === true ? rowNames : undefined,
    chunkRowCounts,
  };
  await writeRowText(written, {
    form,
    arenas: context.arenas,
    parallel: context.parallel,
    write: (bytes) => sink.write(bytes),
    report(count) {
      context.checkCancelled();
      report(count);
    },
  });
  return rowCount;
}
