// The tasks that engine workers know: what each is given and what it answers.
import type { DatasetContent, Params } from '../../dataset/dataset-type.ts';
import type { RecordingForm } from '../../dataset/recording-json.ts';
import type { FormatName } from '../../exec/output/format.ts';
import type { OutputOptions } from '../../exec/output/options.ts';
import type { Guess } from '../../format/guess/guessed-import.ts';
import type { FunctionRouteAnswer, LoadedArtifact } from '../../function/function-type.ts';
import type { ValueType } from '../../plan/type/type.ts';
import type { ProcedureResult, RunEffects } from '../../procedure/procedure-type.ts';
import type { ColumnProfile } from '../../procedure/statistics/column-summary.ts';
import type { ColumnRoom, ReadColumn } from '../../store/columnar-file.ts';
import type { WireValue } from '../../value/wire-value.ts';
import type { ContentParts } from '../persist/kept-content.ts';

/** A part of a dataset that a route reads. */
export type DatasetReading =
  | { readonly what: 'rows'; readonly start: number; readonly limit: number }
  | { readonly what: 'columns'; readonly offset: number; readonly limit: number }
  | { readonly what: 'values'; readonly column: string }
  | {
      readonly what: 'valuecounts';
      readonly column: string;
      readonly offset: number;
      readonly limit: number;
    }
  | { readonly what: 'timestampRange' };

/** What is known of a compiled function; plain data. */
export interface FunctionInterface {
  readonly input: readonly ValueType[];
  readonly output: ValueType;
  readonly isLight: boolean;
}

/** `dated`: the output and its date, for scripts. */
export type ApplicationFormat = 'compat' | 'json' | 'dated';

/** A function applied to one input. */
export interface Application {
  readonly input?: unknown;
  /** instead of `input`: a row whose cells may be any atoms */
  readonly typedInput?: WireValue;
  readonly keepValues: readonly string[];
  readonly format: ApplicationFormat;
}

/** A body that a worker parses, with what messages say of its request. */
export interface LargeBody {
  readonly body: Uint8Array;
  readonly verb: string;
  readonly path: string;
}

export interface EngineTasks {
  /** Emits the bytes of the result. */
  query: {
    args: {
      readonly text: string;
      readonly format: FormatName;
      readonly output: OutputOptions;
      readonly columnOrder: 'select' | 'name';
      readonly strict: boolean;
      readonly seed?: number | undefined;
    };
    /** Its progress documents are lists of warnings, sent before the first bytes. */
    result: { readonly rowCount: number };
  };
  /** Parses and admits rows; nothing is stored yet. */
  record: {
    args: {
      readonly form: RecordingForm;
      readonly body: Uint8Array;
      /** of streams: the number of the first line or row, and the time of the request */
      readonly part?: { readonly first: number; readonly ts: number } | undefined;
      readonly type: string;
      readonly params: Params;
      readonly state: unknown;
      readonly content: DatasetContent | undefined;
    };
    result: {
      /** bytes of the batch, in shared memory */
      readonly batch: Uint8Array;
      readonly rowCount: number;
      readonly state: unknown;
      /** printed row names, where each may be recorded once only */
      readonly names: readonly string[] | undefined;
    };
  };
  /** Builds new content from the old and recorded batches. */
  commit: {
    args: {
      readonly type: string;
      readonly params: Params;
      readonly content: DatasetContent | undefined;
      readonly batches: readonly Uint8Array[];
      readonly state: unknown;
      /** the commit ends the recording */
      readonly isFinal: boolean;
      /** the dataset is being made */
      readonly isFirst?: boolean;
    };
    result: DatasetContent;
  };
  /** Writes a batch to the file that keeps the rows. */
  appendExternal: {
    args: { readonly type: string; readonly params: Params; readonly batch: Uint8Array };
    result: undefined;
  };
  /** Reads the file that keeps the rows. */
  loadExternal: {
    args: { readonly type: string; readonly params: Params };
    result: DatasetContent;
  };
  /** Writes content to a file, whole or not at all. */
  save: {
    args: { readonly content: DatasetContent; readonly path: string };
    result: undefined;
  };
  /** Writes content to a URL. */
  saveUrl: {
    args: {
      readonly content: DatasetContent;
      readonly url: string;
      /** the kind of content that the file is to say it has */
      readonly mark: string | undefined;
    };
    result: undefined;
  };
  /** Reads content from a URL; undefined when nothing is there. */
  loadUrl: {
    args: { readonly type: string; readonly url: string };
    result: DatasetContent | undefined;
  };
  /** Reads content that was kept. */
  open: {
    args: {
      readonly type: string;
      readonly params: Params;
      /** what the parts come on top of */
      readonly base: DatasetContent | undefined;
      /** false: values of columns may stay in the file until a thread looks at them */
      readonly isWhole: boolean;
    } & Omit<ContentParts, 'committed' | 'isOnTop'>;
    result: DatasetContent;
  };
  /** Reads columns of content that was opened: one, and others while there is room. */
  columns: {
    args: { readonly file: string; readonly wanted: readonly number[]; readonly room: ColumnRoom };
    result: readonly ReadColumn[];
  };
  /** Builds the content of a view. */
  view: {
    args: {
      readonly type: string;
      readonly params: Params;
      /** of views that are made of datasets which others list */
      readonly parts?: readonly DatasetContent[];
    };
    result: DatasetContent;
  };
  /** Emits the JSON of a part of a dataset. */
  read: {
    args: { readonly dataset: string; readonly reading: DatasetReading };
    result: undefined;
  };
  /** Tells what a file probably holds, and how it would be imported. */
  guess: {
    args: { readonly url: string; readonly rows: number };
    result: Omit<Guess, 'rows'> & { readonly rows: readonly (readonly unknown[])[] };
  };
  /** Summarizes columns of a dataset. */
  profile: {
    args: {
      readonly dataset: string;
      /** printed names */
      readonly columns: readonly string[];
      /** rows to look at, about; absent: all */
      readonly rows: number | undefined;
    };
    result: readonly ColumnProfile[];
  };
  /** Runs a procedure; what it made is not registered yet. */
  procedure: {
    args: {
      readonly type: string;
      readonly params: Params;
      readonly procedureId: string;
      readonly runId: string;
      readonly startedAt: number;
      /** the number that its messages bear */
      readonly run: number;
    };
    result: ProcedureResult & { readonly effects: RunEffects };
  };
  /** Compiles a function, to see whether it can be and what it takes and gives. */
  bind: {
    args: {
      readonly type: string;
      readonly params: Params;
      /** loaded before; absent: it is loaded now */
      readonly artifact?: LoadedArtifact | undefined;
    };
    result: {
      readonly interface: FunctionInterface;
      readonly artifact: LoadedArtifact | undefined;
      /** ids of the functions that it calls */
      readonly met: readonly string[];
    };
  };
  /** Emits the JSON of the output of a function for one input, or for each of many. */
  apply: {
    args: { readonly function: string } & (Application | LargeBody);
    result: undefined;
  };
  /** Emits a line for each line of input; the last is an error when that line failed. */
  lines: {
    args: {
      readonly function: string;
      readonly lines: Uint8Array;
      readonly firstLine: number;
      readonly ts: number;
    };
    result: { readonly hasFailed: boolean };
  };
  details: { args: { readonly function: string }; result: unknown };
  /** Answers a route that functions of the type have. */
  functionRoute: {
    args: { readonly function: string; readonly route: string; readonly body: unknown };
    result: FunctionRouteAnswer;
  };
  batch: {
    args: { readonly function: string; readonly ts: number } & (
      | { readonly input: unknown }
      | LargeBody
    );
    result: undefined;
  };
}

/**
 * Tasks that change nothing outside of their result and are given nothing that could be gone at a
 * second attempt.
 */
export const REPEATABLE_TASKS: ReadonlySet<keyof EngineTasks> = new Set([
  'query',
  'record',
  'commit',
  'open',
  'columns',
  'view',
  'read',
  'profile',
  'bind',
  'apply',
  'batch',
  'details',
]);
