// A call of a scalar function on atoms: prepared for its constants, its failures named.
import { constantAtoms } from '../../../plan/bind/bound-argument.ts';
import type { BoundExpression } from '../../../plan/expression.ts';
import type { ScalarFunction } from '../../../plan/function.ts';
import { RowanError } from '../../../util/error.ts';
import type { Atom } from '../../../value/atom.ts';

export type AtomCall = (...atoms: Atom[]) => Atom;

export function atomCall(declaration: ScalarFunction, args: readonly BoundExpression[]): AtomCall {
  const call: AtomCall =
    declaration.specialize?.(constantAtoms(args)) ?? ((...atoms) => declaration.evaluate(...atoms));
  return (...atoms) => {
    try {
      return call(...atoms);
    } catch (error) {
      throw executionError(declaration.name, error);
    }
  };
}

/** The same failure, announced with the function's name. */
export function executionError(name: string, error: unknown): unknown {
  if (!(error instanceof RowanError) || error.code === 'CANCELLED') return error;
  const prefix = `Executing builtin function ${name}: `;
  if (error.message.startsWith(prefix)) return error;
  return new RowanError(error.code, error.httpCode, prefix + error.message, error.details);
}
