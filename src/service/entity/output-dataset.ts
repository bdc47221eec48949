// A dataset that a running procedure makes; the service registers it when the run succeeds.
import type {
  ContentWriter,
  DatasetType,
  Params,
  WriterContext,
} from '../../dataset/dataset-type.ts';
import { cellsOfRow, type RecordedRow } from '../../dataset/recorded-row.ts';
import { snapshotRelation } from '../../dataset/snapshot-relation.ts';
import { checkUniqueRows } from '../../dataset/tabular.ts';
import type { Namespace } from '../../plan/namespace.ts';
import type { PlanNode } from '../../plan/plan.ts';
import type { OutputDataset, OutputOptions, RunEffects } from '../../procedure/procedure-type.ts';
import type { RemoteAccess } from '../../remote/remote-access.ts';
import type { EntityReference, OutputDatasetSpec } from '../../schema/declare.ts';
import { assert } from '../../util/assert.ts';
import { failure } from '../../util/error.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { rowNamesView } from '../../value/column/row-names.ts';
import type { ColumnarSnapshot, Snapshot } from '../../value/column/snapshot.ts';
import { freeSnapshot } from '../../value/column/snapshot-memory.ts';
import type { Path } from '../../value/path.ts';
import type { Row } from '../../value/value.ts';
import { automaticId } from '../id.ts';
import { parseParams } from './config.ts';
import type { TypeRegistry } from './type-registry.ts';

/** Rows and cells between two looks at the cancel flag. */
const CELLS_PER_CHECK = 4096;

export interface OutputContext {
  readonly types: TypeRegistry;
  readonly arenas: ArenaAllocator;
  readonly remote: RemoteAccess;
  checkCancelled(): void;
  /** Called at once: what the output has to do when the run fails. */
  onOpen(abandon: () => void): void;
  /** Called when the dataset is complete. */
  onCommit(effect: RunEffects['datasets'][number]): void;
}

/** @throws UNKNOWN_TYPE, INVALID_PARAMETER for a type that records nothing */
export function openOutput(
  spec: OutputDatasetSpec,
  defaultType: string,
  options: OutputOptions,
  scope: OutputContext,
): OutputDataset {
  const reference: EntityReference = typeof spec === 'string' ? { id: spec } : (spec ?? {});
  const type = scope.types.datasetType(reference.type ?? defaultType);
  if (type.recording === undefined) throw notRecordable(type.name);
  const given = { ...options.defaultParams, ...reference.params };
  const params = parseParams(type, given);
  type.check?.(params);
  const output = new PendingOutput(reference, type, params, scope);
  scope.onOpen(() => output.abandon());
  return output;
}

export function notRecordable(type: string): Error {
  return failure('INVALID_PARAMETER', `Dataset type '${type}' doesn't allow recording`);
}

class PendingOutput implements OutputDataset {
  readonly id: string;
  readonly #reference: EntityReference;
  readonly #type: DatasetType;
  readonly #params: Params;
  readonly #scope: OutputContext;
  readonly #names: Set<string> | undefined;
  #writer: ContentWriter | undefined;
  #columns: ColumnarSnapshot | undefined;
  #namesDiffer = false;
  #state: unknown;
  #cellsToCheck = 0;

  constructor(reference: EntityReference, type: DatasetType, params: Params, scope: OutputContext) {
    this.id = reference.id ?? automaticId();
    this.#reference = reference;
    this.#type = type;
    this.#params = params;
    this.#scope = scope;
    this.#state = this.#recording.initialState;
    this.#names = this.#recording.duplicateRow === undefined ? undefined : new Set();
  }

  get type(): string {
    return this.#type.name;
  }

  get takesColumns(): boolean {
    return this.#type.name === 'tabular';
  }

  get takesDense(): boolean {
    return this.takesColumns || this.#recording.roundedTime !== undefined;
  }

  get ignoresColumns(): boolean {
    return this.takesColumns && this.#params.unknownColumns === 'ignore';
  }

  get addsColumns(): boolean {
    return this.takesColumns && this.#params.unknownColumns === 'add';
  }

  get #recording() {
    const { recording } = this.#type;
    assert(recording !== undefined, 'an output dataset is recordable');
    return recording;
  }

  record(row: RecordedRow): void {
    assert(this.#columns === undefined, 'a dataset is made of rows or of columns');
    this.#cellsToCheck -= row.cells.length + 1;
    if (this.#cellsToCheck <= 0) {
      this.#scope.checkCancelled();
      this.#cellsToCheck = CELLS_PER_CHECK;
    }
    const { rows, state } = this.#recording.admit([row], this.#params, this.#state);
    this.#state = state;
    const writer = this.#open();
    for (const admitted of rows) {
      this.#checkName(admitted.name);
      writer.add(admitted);
    }
  }

  recordRow(name: Path, row: Row): void {
    this.record({ name, cells: cellsOfRow(row) });
  }

  recordColumns(snapshot: ColumnarSnapshot, { namesDiffer = false } = {}): void {
    assert(this.takesDense && this.#writer === undefined, 'columns are taken as a whole');
    const { roundedTime } = this.#recording;
    if (roundedTime === undefined) {
      this.#columns = snapshot;
      this.#namesDiffer = namesDiffer;
      this.#state = snapshot.columns.map((column) => column.path);
      return;
    }
    const { timestamps, rowNames, rowCount } = snapshot;
    const { arenas } = this.#scope;
    const isUnique =
      namesDiffer || rowNamesView(rowNames, rowCount, arenas).duplicates().length === 0;
    if (timestamps.kind === 'constant' && isUnique) {
      const ts = roundedTime(this.#params)(timestamps.ts);
      this.#columns = { ...snapshot, timestamps: { kind: 'constant', ts } };
      return;
    }
    for (const { name, row } of snapshotRelation(snapshot, arenas).scan('all')) {
      this.recordRow(name, row);
    }
    freeSnapshot(snapshot, arenas);
  }

  copyRows(
    root: PlanNode,
    namespace: Namespace,
    report: (share: number) => void,
  ): string | undefined {
    return this.#open().copyRows?.(root, namespace, report);
  }

  abandon(): void {
    this.#writer?.abandon?.();
  }

  commit(): unknown {
    const sealed = this.#seal();
    const snapshot = this.#recording.index?.(sealed, this.#writerContext) ?? sealed;
    const { stateAtCommit } = this.#recording;
    const state = stateAtCommit?.(snapshot, this.#state, true, this.#scope.arenas) ?? this.#state;
    const content = { snapshot, state };
    const { persistent, params } = this.#reference;
    this.#scope.onCommit({
      id: this.id,
      type: this.#reference.type ?? this.#type.name,
      params,
      persistent,
      content,
    });
    return this.#type.status(content, this.#params);
  }

  #seal(): Snapshot {
    if (this.#columns === undefined) return this.#open().finish(this.#state);
    if (this.takesColumns && !this.#namesDiffer) checkUniqueRows(this.#columns, this.#scope.arenas);
    return this.#columns;
  }

  #open(): ContentWriter {
    this.#writer ??= this.#recording.openWriter(this.#writerContext);
    return this.#writer;
  }

  get #writerContext(): WriterContext {
    const { arenas, remote } = this.#scope;
    const checkCancelled = () => this.#scope.checkCancelled();
    const params = this.#params;
    return { params, previous: undefined, arenas, remote, isFirst: true, checkCancelled };
  }

  #checkName(name: Path): void {
    if (this.#names === undefined) return;
    const key = name.toString();
    if (this.#names.has(key)) throw this.#recording.duplicateRow?.(name);
    this.#names.add(key);
  }
}
