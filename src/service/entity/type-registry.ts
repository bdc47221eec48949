// The entity types by kind and name. Every type is one declaration; all else derives from it.
import type { DatasetType } from '../../dataset/dataset-type.ts';
import type { EntityKind, EntityType } from '../../dataset/entity-type.ts';
import type { FunctionType } from '../../function/function-type.ts';
import type { ProcedureType } from '../../procedure/procedure-type.ts';
import { failure } from '../../util/error.ts';
import { findNearestWord } from '../../util/nearest-word.ts';

export class TypeRegistry {
  readonly #types = new Map<string, EntityType>();

  constructor(types: readonly EntityType[]) {
    for (const type of types) this.add(type);
  }

  add(type: EntityType): void {
    for (const name of [type.name, ...(type.aliases ?? [])]) {
      const key = `${type.kind} ${name}`;
      if (this.#types.has(key)) throw new Error(`two ${type.kind} types named ${name}`);
      this.#types.set(key, type);
    }
  }

  find(kind: EntityKind, name: string): EntityType | undefined {
    return this.#types.get(`${kind} ${name}`);
  }

  /** @throws UNKNOWN_TYPE */
  get(kind: EntityKind, name: string): EntityType {
    const type = this.find(kind, name);
    if (type !== undefined) return type;
    const known = this.names(kind);
    const near = findNearestWord(name, known);
    throw failure('UNKNOWN_TYPE', { type: name, near }, { kind, type: name, known });
  }

  datasetType(name: string): DatasetType {
    return this.get('dataset', name) as DatasetType;
  }

  functionType(name: string): FunctionType {
    return this.get('function', name) as FunctionType;
  }

  procedureType(name: string): ProcedureType {
    return this.get('procedure', name) as ProcedureType;
  }

  /** Names and aliases of a kind, sorted. */
  names(kind: EntityKind): string[] {
    const prefix = `${kind} `;
    const names = [...this.#types.keys()].filter((key) => key.startsWith(prefix));
    return names.map((key) => key.slice(prefix.length)).sort();
  }
}
