// What expressions gave for each value of a dictionary, kept for the queries to come: a dictionary
// never changes, and a query that is asked again would evaluate the same.
import { someExpression } from '../../plan/children.ts';
import type { BoundExpression } from '../../plan/expression.ts';
import type { FunctionNamespace } from '../../plan/function.ts';
import { textOfExpression } from '../../plan/text-of-expression.ts';
import type { Atom } from '../../value/atom.ts';
import { Scalar } from '../../value/value.ts';

/** Bytes of the values of all expressions that a thread keeps, about. */
const SIZE_MAX = 1 << 22;
/** Bytes of a value beside its text. */
const VALUE_SIZE = 16;
/** Fewer are evaluated again. */
const VALUE_COUNT_MIN = 1024;

export class ValueMemo {
  readonly #kept = new Map<
    string,
    { readonly atoms: readonly Atom[]; readonly sizeBytes: number }
  >();
  #sizeBytes = 0;

  /** @param evaluate gives the values for all codes; undefined when they are no atoms */
  atoms(
    key: string | undefined,
    evaluate: () => readonly Atom[] | undefined,
  ): readonly Atom[] | undefined {
    if (key === undefined) return evaluate();
    const known = this.#kept.get(key);
    if (known !== undefined) {
      // What was used last is given up last.
      this.#kept.delete(key);
      this.#kept.set(key, known);
      return known.atoms;
    }
    const atoms = evaluate();
    if (atoms === undefined || atoms.length < VALUE_COUNT_MIN) return atoms;
    const sizeBytes = atoms.reduce((sum: number, atom) => sum + sizeOf(atom), 0);
    if (sizeBytes > SIZE_MAX) return atoms;
    this.#kept.set(key, { atoms, sizeBytes });
    this.#sizeBytes += sizeBytes;
    for (const [oldest, values] of this.#kept) {
      if (this.#sizeBytes <= SIZE_MAX) break;
      this.#kept.delete(oldest);
      this.#sizeBytes -= values.sizeBytes;
    }
    return atoms;
  }
}

function sizeOf(atom: Atom): number {
  if (typeof atom === 'string') return VALUE_SIZE + 2 * atom.length;
  return VALUE_SIZE + (atom instanceof Uint8Array ? atom.length : 0);
}

/** Those of this thread. */
export const valueMemo = new ValueMemo();

/**
 * A text that is the same for expressions of the same values.
 * @param expression about one column, whatever it is called
 * @returns undefined when it may give other values the next time
 */
export function memoKey(
  expression: BoundExpression,
  dictionaryId: number,
  builtins: FunctionNamespace,
): string | undefined {
  const differs = (part: BoundExpression) => !isRepeatable(part, builtins);
  if (someExpression(expression, differs)) return undefined;
  return `${dictionaryId} ${textOfExpression(expression)}`;
}

function isRepeatable(part: BoundExpression, builtins: FunctionNamespace): boolean {
  switch (part.kind) {
    case 'constant':
      // Of other atoms the text does not tell all.
      return part.value instanceof Scalar && isPlain(part.value.atom);
    case 'call': {
      const found = builtins.findFunction(part.name);
      return found?.kind === 'scalar' && found.volatility === 'immutable';
    }
    default:
      return REPEATABLE.has(part.kind);
  }
}

function isPlain(atom: Atom): boolean {
  return atom === null || typeof atom === 'string' || typeof atom === 'number';
}

const REPEATABLE: ReadonlySet<BoundExpression['kind']> = new Set([
  ...(['column', 'arithmetic', 'comparison', 'and', 'or', 'unary', 'is'] as const),
  ...(['between', 'in-list', 'like', 'case', 'cast'] as const),
]);
