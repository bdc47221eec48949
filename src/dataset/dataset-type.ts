// What a dataset type declares: how rows are admitted and stored, or how a view is built.
import type { TObject } from 'typebox';
import type { Namespace, Relation, RelationRow } from '../plan/namespace.ts';
import type { PlanNode } from '../plan/plan.ts';
import type { RemoteAccess } from '../remote/remote-access.ts';
import type { DatasetReference, EntityReference } from '../schema/declare.ts';
import type { RowanError } from '../util/error.ts';
import type { ArenaAllocator } from '../value/column/arena-set.ts';
import type { Snapshot } from '../value/column/snapshot.ts';
import type { Path } from '../value/path.ts';
import type { EntityType, ParamsOf } from './entity-type.ts';
import type { RecordedRow } from './recorded-row.ts';

export type Params = Readonly<Record<string, unknown>>;

/** The committed content of a dataset: plain data over shared memory. */
export interface DatasetContent {
  readonly snapshot: Snapshot;
  /** what the type remembers between recordings, for instance its fixed columns; plain data */
  readonly state: unknown;
}

export interface DatasetType<Schema extends TObject = TObject> extends EntityType<Schema> {
  readonly kind: 'dataset';
  /** Checks what the schema cannot say. @throws INVALID_PARAMETER */
  check?(params: ParamsOf<Schema>): void;
  /** present on types into which rows can be recorded */
  readonly recording?: Recording<ParamsOf<Schema>>;
  /** present on views: they are built once, from other datasets, when they are created */
  readonly view?: View<ParamsOf<Schema>>;
  /** present on streams: their rows go to one dataset after the other */
  pieces?(params: ParamsOf<Schema>): StreamPieces;
  /** the type-specific member `status` */
  status(content: DatasetContent, params: ParamsOf<Schema>): unknown;
  /** a message instead of content, while what the type remembers says that it cannot be read */
  unreadable?(state: unknown): string | undefined;
  /** present when the rows are in another system, from which each query reads them */
  relation?(params: ParamsOf<Schema>, access: RemoteAccess): Relation;
  /** present when a file that other programs can read keeps the rows */
  readonly external?: ExternalStore<ParamsOf<Schema>>;
  /** present when content can be saved to a URL of the user's choice, and loaded from there */
  readonly file?: DatasetFile<ParamsOf<Schema>>;
  /** the names that GET …/columns lists; default natural order */
  columnNames?(content: DatasetContent): readonly Path[];
}

/** Declares a dataset type whose members get the parameters that its schema describes. */
export function datasetType<Schema extends TObject>(
  declaration: Omit<DatasetType<Schema>, 'kind'>,
): DatasetType<Schema> {
  return { kind: 'dataset', ...declaration };
}

/** Where the pieces of a stream come from, and where they go. */
export interface StreamPieces {
  /** the dataset that lists them */
  readonly metadata: DatasetReference;
  /** procedures that name the next piece and save one */
  readonly create: EntityReference;
  readonly save: EntityReference;
  /** milliseconds between two; 0: by commit alone */
  readonly intervalMs: number;
}

export interface DatasetFile<Given = Params> {
  /** where content is loaded from and each commit is saved to; undefined: nowhere */
  url(params: Given): string | undefined;
  /** the type that loads what this one saves */
  readonly loadedAs: string;
  /** the kind of content that its files say they have; absent: they say nothing */
  readonly mark?: string;
  /** true: a file that is not there is an error instead of no rows */
  readonly mustExist?: boolean;
  /** true: a new dataset is empty, whatever the file has */
  readonly isWrittenOnly?: boolean;
  /** false: there is no route that saves */
  readonly hasSaves?: boolean;
  /** what the type remembers of loaded content; called where it was loaded */
  stateOf(snapshot: Snapshot, arenas: ArenaAllocator): unknown;
}

/** Rows that are kept in a file of their own, which a recording has changed when it returns. */
export interface ExternalStore<Given = Params> {
  /** a local file; undefined: the rows are kept as those of other types */
  url(params: Given): string | undefined;
  load(
    path: string,
    context: { readonly arenas: ArenaAllocator; checkCancelled(): void },
  ): Promise<Snapshot>;
  append(path: string, rows: Iterable<RecordedRow>): Promise<void>;
}

export interface Recording<Given = Params> {
  /** `write`: what was recorded is visible to the next request without a commit */
  visibility(params: Given): 'commit' | 'write';
  /** the state of a dataset without rows */
  readonly initialState: unknown;
  /**
   * Checks rows and brings them into the form that is stored. All or nothing.
   * @returns the rows and the state after them
   */
  admit(rows: readonly RecordedRow[], params: Given, state: unknown): Admission;
  /** present when a row name may be recorded only once */
  duplicateRow?(name: Path): RowanError;
  /**
   * Present when any rows are admitted, and keep everything but their timestamps: what becomes of
   * these, in seconds. Rows are then recorded without being made objects, and content in which every
   * row has all columns may be kept by column.
   */
  roundedTime?(params: Given): (ts: number) => number;
  /** true: rows that were recorded may turn out to be unacceptable when they are committed */
  readonly mayRefuseAtCommit?: boolean;
  /** true: writers send rows to another system, so that nothing is kept here and nothing to commit */
  readonly sends?: boolean;
  /** true: a commit ends the recording */
  readonly freezes?: boolean;
  /** whether a commit has ended the recording */
  isFrozen?(state: unknown): boolean;
  /** The state behind a commit. @param isFinal the commit ends the recording */
  stateAtCommit?(
    snapshot: Snapshot,
    state: unknown,
    isFinal: boolean,
    arenas: ArenaAllocator,
  ): unknown;
  /**
   * Adds to sealed content what speeds its reading up; called with what was committed and with
   * what was read from a file.
   * @returns the content with it, of which everything else is as it was
   */
  index?(snapshot: Snapshot, context: WriterContext<Given>): Snapshot;
  /** Starts new content: that of `previous` and the rows that will be added. */
  openWriter(context: WriterContext<Given>): ContentWriter;
}

export interface Admission {
  readonly rows: readonly RecordedRow[];
  readonly state: unknown;
}

export interface WriterContext<Given = Params> {
  readonly params: Given;
  readonly previous: { readonly snapshot: Snapshot; readonly relation: Relation } | undefined;
  readonly arenas: ArenaAllocator;
  /** for writers that send */
  readonly remote: RemoteAccess;
  /** true: the dataset is being made */
  readonly isFirst: boolean;
  checkCancelled(): void;
}

export interface ContentWriter {
  /** Adds an admitted row. */
  add(row: RecordedRow): void;
  /** Adds the admitted rows of a batch (recorded-batch.ts), where they need not be made objects. */
  addBatch?(batch: Uint8Array): void;
  /**
   * Takes the rows of a query without their being read, where the system that gets them has them.
   * @param report told which share of the rows was read
   * @returns what that system was told; undefined: the rows have to be added
   */
  copyRows?(
    root: PlanNode,
    namespace: Namespace,
    report: (share: number) => void,
  ): string | undefined;
  /** Seals the content. @throws when the rows together are not acceptable */
  finish(state: unknown): Snapshot;
  /** The run failed: what another system made for its rows alone goes away. */
  abandon?(): void;
}

export interface View<Given = Params> {
  /**
   * Present when a view is made of datasets that others list: a query whose rows have a column
   * `config`, the JSON of the configuration of each. They are loaded for the view alone.
   */
  parts?(params: Given): string;
  build(context: ViewContext<Given>): DatasetContent;
}

export interface ViewContext<Given = Params> {
  readonly params: Given;
  dataset(id: string): Relation;
  /** what the query for its parts has named, in that order */
  readonly parts: readonly Relation[];
  /** the type-specific status of a dataset */
  status(id: string): unknown;
  readonly arenas: ArenaAllocator;
  /** The rows of a SELECT statement over the catalogue; each pass over them runs it anew. */
  query(text: string): Iterable<RelationRow>;
  checkCancelled(): void;
}
