// A namespace of relations and functions written in a test.

import type { CallContext, FunctionNamespace, UserFunction } from '../../src/plan/function.ts';
import type { Namespace } from '../../src/plan/namespace.ts';
import { failure } from '../../src/util/error.ts';
import { MemoryRelation, type RowJson } from './memory-relation.ts';

export class MemoryNamespace implements Namespace {
  readonly datasets = new Map<string, MemoryRelation>();
  readonly functions = new Map<string, UserFunction>();
  readonly builtins: FunctionNamespace;

  constructor(builtins: FunctionNamespace) {
    this.builtins = builtins;
  }

  add(name: string, rows: readonly RowJson[]): MemoryRelation {
    const relation = new MemoryRelation(rows);
    this.datasets.set(name, relation);
    return relation;
  }

  dataset(name: string): MemoryRelation {
    const relation = this.datasets.get(name);
    if (relation === undefined) {
      throw failure('ENTITY_NOT_FOUND', { kind: 'dataset', id: name });
    }
    return relation;
  }

  findUserFunction(name: string): UserFunction | undefined {
    return this.functions.get(name);
  }
}

export const NO_CONTEXT: CallContext = { checkCancelled: () => undefined, host: undefined };
