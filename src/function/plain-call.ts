// Calls that go from plain JSON to atoms without making values, where a function reads nothing but
// atoms of its input. Its meaning stays that of the general way: whatever looks unusual, and every
// failure, is left to that.
import type { PreparedSelect } from '../exec/prepared-row.ts';
import { compileScalar } from '../exec/scalar/compile.ts';
import type { BoundExpression, ProjectItem } from '../plan/expression.ts';
import type { FunctionNamespace } from '../plan/function.ts';
import { mapExpression } from '../plan/map-expression.ts';
import type { Atom } from '../value/atom.ts';
import { normalizeInteger } from '../value/atom.ts';
import { atomToJsonText } from '../value/json.ts';
import { compareElements } from '../value/natural-order.ts';
import { isIndexElement } from '../value/path.ts';
import {
  isNumberAggregateCall,
  NUMBER_AGGREGATES,
  type NumberAggregate,
} from './number-aggregate.ts';

/** The JSON text of the output for a JSON input; undefined: only the general way can tell. */
export type PlainCall = (input: unknown) => string | undefined;

/**
 * The output for an array of numbers, `numbers[start]` to `numbers[end - 1]`: finite, not the
 * negative zero. Undefined: only the general way can tell.
 */
export type NumberRowCall = (numbers: Float64Array, start: number, end: number) => Atom | undefined;

export interface PlainCalls {
  readonly plain?: PlainCall;
  readonly numberRow?: NumberRowCall;
}

export interface PlainOptions {
  /** the value of the only item is the output */
  readonly raw: boolean;
  /** the input is the value of the only variable */
  readonly autoInput: boolean;
  readonly builtins: FunctionNamespace;
}

/** The shortcuts of a select list; none when some item of it needs rows or timestamps. */
export function plainCallsOf(select: PreparedSelect, options: PlainOptions): PlainCalls {
  const items = select.items.map((item) => plainItem(item, options));
  if (items.length === 0 || !items.every((item) => item !== undefined)) return {};
  if (!options.raw) {
    const sorted = items.sort((a, b) => compareElements(a.name, b.name));
    if (sorted.some(({ name }, index) => name === sorted[index - 1]?.name)) return {};
    // A row of the columns 0, 1, … is no object in plain JSON.
    if (sorted.every(({ name }, index) => name === String(index))) return {};
    return { plain: objectCall(sorted, options) };
  }
  const [only] = items as [PlainItem];
  const numberRow = options.autoInput ? numberRowCall(only) : undefined;
  return { plain: valueCall(only, options), ...(numberRow === undefined ? {} : { numberRow }) };
}

interface PlainItem {
  readonly name: string;
  readonly leaves: readonly Leaf[];
  /** true: the item is its only leaf */
  readonly isLeaf: boolean;
  evaluate(atoms: readonly Atom[]): Atom;
}

/** What an expression reads of the input. */
interface Leaf {
  /** below the input */
  readonly path: readonly string[];
  /** over the array of numbers that is there; absent: the atom that is there */
  readonly aggregate: NumberAggregate | undefined;
}

const AGGREGATE_MARK = '\u0000aggregate';

function plainItem(item: ProjectItem, options: PlainOptions): PlainItem | undefined {
  if (item.kind !== 'named' || item.path.length !== 1) return undefined;
  const expression = mapExpression(item.expression, markAggregate);
  const program = compileScalar(expression, options.builtins);
  if (program === undefined) return undefined;
  return {
    name: item.path[0] as string,
    leaves: program.columns.map((column) => leafOf(column, options.autoInput ? 1 : 0)),
    isLeaf: expression.kind === 'column',
    evaluate: program.evaluate,
  };
}

/** Aggregates become columns, which the calls below fill. */
function markAggregate(expression: BoundExpression): BoundExpression {
  if (!isNumberAggregateCall(expression)) return expression;
  const { name, args, type, start, end } = expression;
  return { kind: 'column', path: [AGGREGATE_MARK, name, ...args[0].path], type, start, end };
}

function leafOf(column: readonly string[], depthOfInput: number): Leaf {
  const [mark, name = ''] = column;
  return mark === AGGREGATE_MARK
    ? { path: column.slice(2 + depthOfInput), aggregate: NUMBER_AGGREGATES[name] }
    : { path: column.slice(depthOfInput), aggregate: undefined };
}

function valueCall(item: PlainItem, options: PlainOptions): PlainCall {
  const evaluate = evaluatorOf(item);
  return guarded(options, (input) => {
    const atom = evaluate(input);
    return atom === undefined ? undefined : atomToJsonText(atom);
  });
}

function objectCall(items: readonly PlainItem[], options: PlainOptions): PlainCall {
  const evaluators = items.map(evaluatorOf);
  const heads = items.map(
    ({ name }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
  );
  return guarded(options, (input) => {
    let text = '';
    for (let i = 0; i < evaluators.length; i++) {
      const atom = (evaluators[i] as Evaluator)(input);
      if (atom === undefined) return undefined;
      text += heads[i] as string;
      text += atomToJsonText(atom);
    }
    return `${text}}`;
  });
}

/** The general way says what is wrong, and where. */
function guarded({ autoInput }: PlainOptions, call: PlainCall): PlainCall {
  return (input) => {
    if (!autoInput && (typeof input !== 'object' || input === null || Array.isArray(input))) {
      return undefined;
    }
    try {
      return call(input);
    } catch {
      return undefined;
    }
  };
}

type Evaluator = (input: unknown) => Atom | undefined;

function evaluatorOf({ leaves, evaluate }: PlainItem): Evaluator {
  const atoms = new Array<Atom>(leaves.length).fill(null);
  return (input) => {
    for (let i = 0; i < leaves.length; i++) {
      const atom = readLeaf(leaves[i] as Leaf, input);
      if (atom === undefined) return undefined;
      atoms[i] = atom;
    }
    return evaluate(atoms);
  };
}

/** Undefined where there is a row, or a way through an atom. */
function readLeaf({ path, aggregate }: Leaf, input: unknown): Atom | undefined {
  let json = input;
  for (let i = 0; i < path.length; i++) {
    if (json === null || json === undefined) return undefined;
    if (typeof json !== 'object') return undefined;
    json = memberOf(json, path[i] as string);
  }
  return aggregate === undefined ? atomFromJson(json) : aggregateOf(aggregate, json);
}

/** NULL for nothing; undefined for what is no atom. */
export function atomFromJson(json: unknown): Atom | undefined {
  switch (typeof json) {
    case 'number':
      return json + 0;
    case 'string':
      return json;
    case 'boolean':
      return json ? 1 : 0;
    case 'bigint':
      return normalizeInteger(json);
  }
  return json === null || json === undefined ? null : undefined;
}

function memberOf(json: object, name: string): unknown {
  if (!Array.isArray(json)) {
    return Object.hasOwn(json, name) ? (json as Record<string, unknown>)[name] : undefined;
  }
  return isIndexElement(name) ? (json as readonly unknown[])[Number(name)] : undefined;
}

function aggregateOf(aggregate: NumberAggregate, json: unknown): Atom | undefined {
  if (!Array.isArray(json)) return undefined;
  for (let i = 0; i < json.length; i++) {
    const element: unknown = json[i];
    if (typeof element !== 'number' || !Number.isFinite(element)) return undefined;
  }
  return aggregate(json, 0, json.length);
}

type NumberRowReader = NumberRowCall;

function numberRowCall({ leaves, isLeaf, evaluate }: PlainItem): NumberRowCall | undefined {
  const readers = leaves.map(numberRowReader);
  if (!readers.every((reader) => reader !== undefined)) return undefined;
  if (isLeaf) return readers[0];
  const atoms = new Array<Atom>(readers.length).fill(null);
  return (numbers, start, end) => {
    for (let i = 0; i < readers.length; i++) {
      atoms[i] = (readers[i] as NumberRowReader)(numbers, start, end) as Atom;
    }
    try {
      return evaluate(atoms);
    } catch {
      return undefined;
    }
  };
}

function numberRowReader({ path, aggregate }: Leaf): NumberRowReader | undefined {
  if (aggregate !== undefined) return path.length === 0 ? aggregate : undefined;
  const [name = ''] = path;
  if (path.length !== 1) return undefined;
  if (!isIndexElement(name)) return () => null;
  const index = Number(name);
  return (numbers, start, end) => (index < end - start ? (numbers[start + index] as number) : null);
}
