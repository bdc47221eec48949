// What a function of the SQL language declares about itself. Builtins implement these interfaces;
// binding, evaluation, documentation, tests and the console derive from the same declaration.
import type { SourceColumn } from '../learn/feature/source.ts';
import type { ModelFormula } from '../learn/formula/formula.ts';
import type { FitContext } from '../learn/workspace.ts';
import type { Atom } from '../value/atom.ts';
import type { Value } from '../value/value.ts';
import type { ValueType } from './type/type.ts';

/**
 * `[expression, its value as JSON text of the atom format]`, what follows SELECT (perhaps with a
 * FROM): printed in the manual, run as a test.
 */
export type FunctionExample = readonly [expression: string, result: string];

/** `immutable`: equal arguments give equal results, so constants fold; `volatile`: per use. */
export type Volatility = 'immutable' | 'volatile';

/**
 * The timestamp of a result: of the first argument, the latest or earliest of all arguments,
 * -Inf whatever they are (`constant`), or set by the function itself (`own`, value functions only).
 */
export type TimestampRule = 'first' | 'latest' | 'earliest' | 'constant' | 'own';

interface FunctionDocumentation {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** the manual's chapter, for instance `numeric`, `string`, `vector` */
  readonly family: string;
  readonly summary: string;
  readonly parameters: readonly ParameterDeclaration[];
  readonly examples: readonly FunctionExample[];
  /**
   * true: the time of a call and its result grow with the size of the arguments, not faster, and
   * depend on nothing else. Calls of other functions are never made where nothing may wait.
   */
  readonly isLinear?: boolean;
  /** true: it asks the service for something while it runs, which not every process can answer */
  readonly reachesHost?: boolean;
  /** The whole message about a wrong number of arguments, where it differs from the usual one. */
  arityMessage?(argumentCount: number): string;
}

export interface ParameterDeclaration {
  readonly name: string;
  readonly description: string;
  readonly optional?: boolean;
  /** any number of further arguments like this one; last only */
  readonly variadic?: boolean;
}

/** Atoms in, one atom out: can run in generated code and over dictionaries. */
export interface ScalarFunction extends FunctionDocumentation {
  readonly kind: 'scalar';
  readonly result: ValueType;
  readonly volatility: Volatility;
  readonly timestamps: TimestampRule;
  /** `propagate`: a null argument gives null without a call; `handle`: evaluate sees nulls. */
  readonly nulls: 'propagate' | 'handle';
  /**
   * Maps over the atoms of rows and embeddings: `first` (E1), `both` (E2), `first-only` (E2 whose
   * second argument is used as it is). Absent: a row or embedding argument is an error.
   */
  readonly elementwise?: 'first' | 'both' | 'first-only';
  /** What is said about a row or embedding in this place; undefined: the usual message. */
  structuredMessage?(argumentIndex: number): string | undefined;
  /** Evaluates one call; `args` holds as many atoms as were written. */
  evaluate(...args: Atom[]): Atom;
  /**
   * Specialises for arguments that are constant (undefined: not constant), for instance compiles a
   * regular expression. Its errors are binding errors.
   */
  specialize?(constants: readonly (Atom | undefined)[]): (...args: Atom[]) => Atom;
  /** JavaScript of a call on atoms known to be finite numbers, for generated code. */
  emitNumeric?(...args: string[]): string;
}

/** What a value function may know about its call when it is bound. */
export interface BoundArgument {
  readonly type: ValueType;
  /** the value, when the argument is constant */
  readonly constant: Value | undefined;
  /** the source text of the argument */
  readonly surface: string;
}

/** Uniform numbers in [0, 1) that a seed decides. */
export interface RandomDraws {
  next(): number;
  /** Begins anew. */
  restart(seed: number): void;
}

/** Services of the query that a running function may use. */
export interface CallContext {
  /** Logs and throws CANCELLED when the query was cancelled; call it in long loops. */
  checkCancelled(): void;
  /** draws of `random()` for the query; absent: another seed for each call */
  readonly random?: RandomDraws | undefined;
  /** Synchronous access to what lives outside the query; absent where there is nothing outside. */
  readonly host: CallHost | undefined;
}

/** Blocks the calling worker until the service has answered. */
export interface CallHost {
  fetchUrl(url: string): { content: Uint8Array; lastModified: number } | { error: string };
  /** Runs a script function for a batch of argument lists in the sandbox. */
  callScript(
    source: string,
    parameters: readonly string[],
    calls: readonly (readonly Value[])[],
  ): Value[];
  /**
   * Runs a program in the sandbox, with all rights.
   * @param args JSON text of its arguments
   * @returns JSON text of its value; undefined when it has none
   */
  runScript(
    script: { readonly source?: string; readonly address?: string },
    args: string,
  ): string | undefined;
}

/** Values (atoms, rows, embeddings) in, one value out. */
export interface ValueFunction extends FunctionDocumentation {
  readonly kind: 'value';
  readonly volatility: Volatility;
  readonly nulls: 'propagate' | 'handle';
  /** `own`: evaluate sets the timestamps; else they are overwritten by the rule. */
  readonly timestamps: TimestampRule;
  /**
   * `latest`: an argument that is a cell with several points gives its latest, and rows have one
   * value a column. `all`: evaluatePoints is called with every point.
   */
  readonly versions: 'latest' | 'all';
  resultType(args: readonly BoundArgument[]): ValueType;
  /** Checks and prepares a call; its errors are binding errors. Default: evaluate as it is. */
  bind?(args: readonly BoundArgument[]): (args: readonly Value[], scope: CallContext) => Value;
  evaluate?(args: readonly Value[], scope: CallContext): Value;
  /**
   * As `bind`, for many calls at once, where one call costs much more than its share of many. For
   * functions that handle nulls and set their timestamps themselves. An error makes the caller call
   * one by one.
   */
  bindBatch?(
    args: readonly BoundArgument[],
  ): (calls: readonly (readonly Value[])[], scope: CallContext) => readonly Value[];
  /** For `versions: 'all'`: the points of each argument; a row is one value with repeated names. */
  evaluatePoints?(args: readonly (readonly Value[])[], scope: CallContext): Value;
}

/**
 * An aggregate over the rows of a group. States are plain objects; `merge` adds the second to the
 * first. With one argument that is a row, the binder aggregates each top-level column separately
 * when `overRows` is true.
 */
export interface AggregateFunction<State = unknown> extends FunctionDocumentation {
  readonly kind: 'aggregate';
  readonly overRows: boolean;
  /** a query of only such aggregates gives a row even when no row was read */
  readonly countsEmpty: boolean;
  resultType(args: readonly ValueType[]): ValueType;
  init(): State;
  update(state: State, args: readonly Value[]): void;
  /**
   * As `update`, for atoms none of which is null, where nobody looks at timestamps; rows with a null
   * are left out. Absent: only `update` takes values.
   */
  addAtoms?(state: State, ...atoms: Atom[]): void;
  merge(state: State, other: State): void;
  finish(state: State): Value;
  /** The same of values whose order was asked for; absent: the order changes nothing, or decides as it is. */
  finishInOrder?(state: State): Value;
  /** Present when nothing but the number of values counts, nulls left out, and their latest timestamp. */
  ofCount?(count: number, latestTs: number): Value;
  /** Names the vector kernel that computes the same over one numeric or dictionary column. */
  readonly kernel?:
    | 'count'
    | 'sum'
    | 'avg'
    | 'min'
    | 'max'
    | 'count_distinct'
    | 'variance'
    | 'stddev';
}

/** A function of a row's place among the rows of its window: only before OVER. */
export interface WindowFunction extends FunctionDocumentation {
  readonly kind: 'window';
  /** true: IGNORE NULLS may follow its arguments */
  readonly takesNulls: boolean;
  resultType(args: readonly ValueType[]): ValueType;
}

export type FunctionDeclaration =
  | ScalarFunction
  | ValueFunction
  | AggregateFunction
  | WindowFunction;

/** The builtins, as the binder sees them. */
export interface FunctionNamespace {
  findFunction(name: string): FunctionDeclaration | undefined;
  /** one whose name is the same but for its case; undefined when there are none or several */
  findInAnyCase(name: string): FunctionDeclaration | undefined;
  functionNames(): readonly string[];
}

/** The columns that a model was trained on, and the member of its input that they are in. */
export interface ModelFeatures {
  readonly member: string;
  /** printed paths */
  readonly names: readonly string[];
}

/** A number of the output of a trained model, for all rows of columns at once. */
export interface ColumnScores {
  /** the member of the input that the features are in */
  readonly member: string;
  /** where the number stands in the output */
  readonly path: readonly string[];
  /** printed paths */
  readonly names: readonly string[];
  /**
   * @param sources one for each of `names`
   * @returns what a call gives for each row
   * @throws what a call throws for one of the rows
   */
  ofColumns(
    sources: readonly SourceColumn[],
    rowCount: number,
    context: Pick<FitContext, 'parallel' | 'checkCancelled'>,
  ): Float64Array;
}

/** A function entity, ready to be called from SQL. Called with one row, it returns a value. */
export interface UserFunction {
  readonly name: string;
  /** true: a call with constant arguments may be evaluated once a query */
  readonly deterministic: boolean;
  readonly outputType: ValueType;
  /** true: takes its argument as it is instead of a row (autoInput) */
  readonly takesAnyValue: boolean;
  /** what the function was trained on; absent: it was not trained, or takes any columns */
  readonly features?: ModelFeatures | undefined;
  /** What other systems can compute instead of calls; undefined: it cannot be said. */
  readonly formula?: (() => ModelFormula | undefined) | undefined;
  /** as `apply` with columns of features; absent: rows are needed */
  readonly columnScores?: ColumnScores | undefined;
  apply(input: Value, scope: CallContext): Value;
  /** as `apply`, for several inputs at once; present where that takes less than one by one */
  readonly applyAll?:
    | ((inputs: readonly Value[], scope: CallContext) => readonly Value[])
    | undefined;
}
