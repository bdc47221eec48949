// What is known of the operators of a plan once they were lowered or have run, for EXPLAIN.
import type { BoundExpression } from '../plan/expression.ts';
import type { PlanNode } from '../plan/plan.ts';
import type { Way } from './physical.ts';

/** How the values of an expression come about. */
export type ExpressionWay =
  /** kernels go through vectors */
  | 'kernel program'
  /** for each value of a dictionary or of a small range; rows look it up by their codes */
  | 'once per distinct value'
  | 'generated JavaScript'
  /** closures of the reference, row by row */
  | 'closure';

export interface ExpressionNote {
  readonly text: string;
  /** several where parts differ, and where only values will tell */
  readonly ways: readonly ExpressionWay[];
  /** true: which of the ways it will be is decided by the values that an operator makes */
  readonly isOpen?: boolean;
}

export interface ColumnNote {
  readonly name: string;
  /** what its values lie in, such as `int32` or `codes of 22 texts` */
  readonly type: string;
}

export interface Observation {
  /** how its rows came about */
  readonly way?: Way;
  readonly rowCount?: number;
  /** with everything below it */
  readonly milliseconds?: number;
  /** of the vectors that it made, or of the stored columns that it read */
  readonly bytes?: number;
  readonly columns?: readonly ColumnNote[];
  /** how many there are; absent: all are told */
  readonly columnCount?: number;
  readonly expressions?: readonly ExpressionNote[];
}

export type Observe = (node: PlanNode, observation: Observation) => void;

const READ_AS_THEY_ARE: ReadonlySet<BoundExpression['kind']> = new Set([
  ...(['column', 'constant', 'group-key', 'aggregate-result', 'window-result'] as const),
]);

/** Whether an expression is more than a value that lies somewhere. */
export function isEvaluated({ kind }: BoundExpression): boolean {
  return !READ_AS_THEY_ARE.has(kind);
}

/** Collects what operators tell, by the nodes that they compute. */
export class Observations {
  readonly #byNode = new Map<PlanNode, Observation>();

  readonly add: Observe = (node, told) => {
    const known = this.#byNode.get(node);
    // The reference took over, or was not needed after all: what was said before did not happen.
    const isOther = told.way !== undefined && known?.way !== undefined && told.way !== known.way;
    const { expressions = [], ...others } = isOther ? ({} as Observation) : (known ?? {});
    const notes = new Map(expressions.map((note) => [note.text, note]));
    for (const note of told.expressions ?? []) notes.set(note.text, note);
    this.#byNode.set(node, { ...others, ...told, expressions: [...notes.values()] });
  };

  of(node: PlanNode): Observation {
    return this.#byNode.get(node) ?? {};
  }
}

/** Columns that are told one by one. */
export const COLUMN_COUNT_MAX = 20;

/** `Carrier codes of 22 texts, Distance int32`; null when nothing is known. */
export function printColumns({ way, columns, columnCount }: Observation): string | null {
  if (way === 'rows') return 'row values';
  if (columns === undefined || columns.length === 0) return null;
  const shown = columns.slice(0, COLUMN_COUNT_MAX).map(({ name, type }) => `${name} ${type}`);
  const rest = (columnCount ?? columns.length) - shown.length;
  return [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
}

/** `(Distance > 1000): kernel program`; null when there are none. */
export function printExpressions(notes: readonly ExpressionNote[] | undefined): string | null {
  if (notes === undefined || notes.length === 0) return null;
  const print = ({ text, ways, isOpen = false }: ExpressionNote) =>
    `${text}: ${ways.join(isOpen ? ' or ' : ' and ')}`;
  return notes.map(print).join('; ');
}
