// What a procedure type declares, and what its runs may use.

import type { TObject } from 'typebox';
import type { DatasetContent } from '../dataset/dataset-type.ts';
import type { EntityKind, EntityType, ParamsOf } from '../dataset/entity-type.ts';
import type { RecordedRow } from '../dataset/recorded-row.ts';
import type { Parallel } from '../exec/parallel.ts';
import type { PreparedQuery, PrepareOptions } from '../exec/query.ts';
import type { FileSystem } from '../file/file-system.ts';
import type { CallContext } from '../plan/function.ts';
import type { Namespace } from '../plan/namespace.ts';
import type { PlanNode, QueryPlan } from '../plan/plan.ts';
import type { RemoteAccess } from '../remote/remote-access.ts';
import type { EntityReference, InputQuery, OutputDatasetSpec } from '../schema/declare.ts';
import type { ScratchFolder } from '../store/scratch-file.ts';
import type { ArenaAllocator } from '../value/column/arena-set.ts';
import type { ColumnarSnapshot } from '../value/column/snapshot.ts';
import type { Path } from '../value/path.ts';
import type { Row } from '../value/value.ts';

export type ProcedureParams = Readonly<Record<string, unknown>>;

export type ProcedureType = WorkerProcedureType | ServiceProcedureType;

interface ProcedureDeclaration<Schema extends TObject> extends EntityType<Schema> {
  readonly kind: 'procedure';
  /** Checks what the schema cannot say; quick, without the catalogue. @throws what is wrong */
  check?(params: ParamsOf<Schema>): void;
}

/** Computes in an engine worker. */
export interface WorkerProcedureType<Schema extends TObject = TObject>
  extends ProcedureDeclaration<Schema> {
  readonly execution: 'worker';
  run(
    context: ProcedureContext,
    params: ParamsOf<Schema>,
  ): ProcedureResult | Promise<ProcedureResult>;
}

/** Orchestrates other entities on the main thread and never computes. */
export interface ServiceProcedureType<Schema extends TObject = TObject>
  extends ProcedureDeclaration<Schema> {
  readonly execution: 'service';
  /** true: what a run overrides is meant for the procedures that it runs, not for its own parameters */
  readonly passesOverrides?: boolean;
  run(context: ServiceProcedureContext, params: ParamsOf<Schema>): Promise<ProcedureResult>;
}

/** Declares a procedure type whose `run` gets the parameters that its schema describes. */
export function workerProcedure<Schema extends TObject>(
  declaration: Omit<WorkerProcedureType<Schema>, 'kind' | 'execution'>,
): WorkerProcedureType<Schema> {
  return { kind: 'procedure', execution: 'worker', ...declaration };
}

/** As `workerProcedure`, for procedures that orchestrate others. */
export function serviceProcedure<Schema extends TObject>(
  declaration: Omit<ServiceProcedureType<Schema>, 'kind' | 'execution'>,
): ServiceProcedureType<Schema> {
  return { kind: 'procedure', execution: 'service', ...declaration };
}

export interface ProcedureResult {
  /** the run's `status`; absent: none */
  readonly result?: unknown;
  /** what GET …/details answers; absent: null */
  readonly details?: unknown;
}

/** A step of the progress document. */
export interface StepDeclaration {
  readonly name: string;
  /** unit of the value: a fraction, lines done, a count, or 0 and 1 */
  readonly type: 'percentile' | 'lines' | 'counter' | 'done';
}

export interface Progress {
  /** Starts the next step, ending the one before. */
  next(): void;
  /** Sets the value of the current step; it never goes back. */
  update(value: number): void;
  /** Ends the current step; a percentile ends at 1. */
  finish(): void;
}

export interface ProcedureContext {
  readonly namespace: Namespace;
  /** every URL that the run reads or writes */
  readonly files: FileSystem;
  /** for copies of files while the run lasts */
  readonly scratch: ScratchFolder;
  /** databases beside the service */
  readonly remote: RemoteAccess;
  readonly arenas: ArenaAllocator;
  readonly parallel: Parallel;
  readonly scope: CallContext;
  /** when the run was started, seconds since the epoch */
  readonly startedAt: number;
  readonly procedureId: string;
  readonly runId: string;
  checkCancelled(): void;
  /** @throws what parsing and binding throw */
  query(
    query: InputQuery,
    rewrite?: (plan: QueryPlan) => QueryPlan,
    options?: Pick<PrepareOptions, 'exactTimestamps'>,
  ): PreparedQuery;
  /** Announces the steps of the run. */
  steps(steps: readonly StepDeclaration[], options?: { readonly topLevel?: boolean }): Progress;
  /** Opens a dataset that is registered when the run succeeds. */
  output(spec: OutputDatasetSpec, defaultType: string, options?: OutputOptions): OutputDataset;
  /** A function that is registered when the run succeeds. */
  outputFunction(config: EntityReference & { readonly type: string }): void;
  /** Logs a message of the run. */
  log(message: string): void;
  /** Asks the service something and waits for the answer. */
  callHost(request: unknown): unknown;
}

export interface OutputOptions {
  /** parameters of the dataset where the specification does not set them */
  readonly defaultParams?: Readonly<Record<string, unknown>>;
}

export interface OutputDataset {
  readonly id: string;
  readonly type: string;
  /** Records one row as the routes do. */
  record(row: RecordedRow): void;
  /** Records a row of a result, nested values flattened. */
  recordRow(name: Path, row: Row): void;
  /**
   * Takes content that was built by column as a whole, instead of rows; only where `takesColumns`,
   * or `takesDense` for content in which every row has all columns.
   * @param options.namesDiffer true: no two rows have the same name, which then is not checked
   */
  recordColumns(snapshot: ColumnarSnapshot, options?: { readonly namesDiffer?: boolean }): void;
  /** true: the type stores plain columns with one timestamp a row */
  readonly takesColumns: boolean;
  /** true: columns can be taken as a whole when no row lacks any of them */
  readonly takesDense: boolean;
  /** true: `takesColumns`, and columns that the first row did not have are left out */
  readonly ignoresColumns: boolean;
  /** true: `takesColumns`, and rows may bring columns that those before them did not have */
  readonly addsColumns: boolean;
  /** Takes the rows of a query without their being read: see ContentWriter. */
  copyRows(
    root: PlanNode,
    namespace: Namespace,
    report: (share: number) => void,
  ): string | undefined;
  /** Makes everything visible. @returns the `status` of the dataset */
  commit(): unknown;
}

export interface ServiceProcedureContext {
  readonly signal: AbortSignal;
  readonly startedAt: number;
  /** parameters that the run overrides, before they were merged */
  readonly overrides: ProcedureParams;
  readonly procedureId: string;
  steps(steps: readonly StepDeclaration[]): Progress & { subProgress(document: unknown): void };
  /** Logs a message of the run. */
  log(message: string, stream?: 'logs' | 'log'): void;
  /** Finds or creates an entity (mode obtain). */
  obtain(kind: EntityKind, config: EntityReference): Promise<ObtainedEntity>;
  /** Removes an entity if there is one. */
  remove(kind: EntityKind, id: string): Promise<void>;
  /** Runs another procedure and waits for it. */
  runProcedure(
    id: string,
    overrides: ProcedureParams,
    onProgress?: (document: unknown) => void,
  ): Promise<ProcedureResult>;
}

export interface ObtainedEntity {
  readonly id: string;
  readonly config: Readonly<Record<string, unknown>>;
  status(): unknown;
}

/** What a finished worker run wants registered. */
export interface RunEffects {
  readonly datasets: readonly {
    readonly id: string;
    readonly type: string;
    readonly params: Readonly<Record<string, unknown>> | undefined;
    readonly persistent: boolean | undefined;
    readonly content: DatasetContent;
  }[];
  readonly functions: readonly (EntityReference & { readonly type: string })[];
}
