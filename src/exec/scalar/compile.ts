// The one place where text becomes code. The text is written by emit.ts and by nothing else.
import type { BoundExpression } from '../../plan/expression.ts';
import type { FunctionNamespace } from '../../plan/function.ts';
import type { Atom } from '../../value/atom.ts';
import { emitScalar } from './emit.ts';
import { SCALAR_HELPERS } from './helper.ts';

export interface ScalarProgram {
  /** the columns whose atoms `evaluate` is given, in this order */
  readonly columns: readonly (readonly string[])[];
  /** The atom of the expression for the latest atoms of the columns; reads `atoms`, keeps nothing. */
  evaluate(atoms: readonly Atom[]): Atom;
}

type Evaluate = (atoms: readonly Atom[]) => Atom;
type Instantiate = (helpers: typeof SCALAR_HELPERS, constants: readonly unknown[]) => Evaluate;

const SOURCE_COUNT_MAX = 512;
const compiled = new Map<string, Instantiate>();

/** A compiled scalar expression; undefined when the general evaluator is needed. */
export function compileScalar(
  expression: BoundExpression,
  builtins: FunctionNamespace,
): ScalarProgram | undefined {
  const emitted = emitScalar(expression, builtins);
  if (emitted === undefined) return undefined;
  const evaluate = instantiate(emitted.source)(SCALAR_HELPERS, emitted.constants);
  return { columns: emitted.columns, evaluate };
}

function instantiate(source: string): Instantiate {
  let made = compiled.get(source);
  if (made === undefined) {
    made = new Function('h', 'k', `"use strict";\nreturn (c) => {\n${source}\n};`) as Instantiate;
    if (compiled.size >= SOURCE_COUNT_MAX) compiled.delete(compiled.keys().next().value as string);
    compiled.set(source, made);
  }
  return made;
}
