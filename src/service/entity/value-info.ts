// The types of a function's input and output as GET …/info shows them.
import type { AtomType, ValueType } from '../../plan/type.ts';
import type { FunctionInterface } from '../engine/engine-task.ts';

const ATOM_NAMES: Readonly<Record<AtomType, readonly [type: string, scalar: string]>> = {
  null: ['MLDB::AtomValueInfo', 'any'],
  integer: ['MLDB::IntegerValueInfo', 'long'],
  number: ['MLDB::NumericValueInfo', 'float'],
  string: ['MLDB::Utf8StringValueInfo', 'string'],
  timestamp: ['MLDB::TimestampValueInfo', 'timestamp'],
  interval: ['MLDB::AtomValueInfo', 'interval'],
  blob: ['MLDB::BlobValueInfo', 'blob'],
  path: ['MLDB::PathValueInfo', 'path'],
  atom: ['MLDB::AtomValueInfo', 'any'],
};

export function functionInfo({ input, output }: FunctionInterface): Record<string, unknown> {
  return { input: input.map((type) => valueInfo(type)), output: valueInfo(output) };
}

export function valueInfo(type: ValueType, isConstant = false): Record<string, unknown> {
  switch (type.kind) {
    case 'atom': {
      const [name, scalar] = ATOM_NAMES[type.atom];
      return { kind: 'scalar', type: name, isConstant, scalar };
    }
    case 'embedding':
      return {
        kind: 'embedding',
        type: type.element === 'number' ? 'FLOAT64' : 'ATOM',
        isConstant,
        shape: type.shape ?? [-1],
      };
    case 'row':
      return {
        kind: 'row',
        type: 'MLDB::RowValueInfo',
        isConstant,
        knownColumns: type.members.map(({ name, type: member }) => ({
          columnName: name,
          valueInfo: valueInfo(member),
          sparsity: 'dense',
        })),
        hasUnknownColumns: type.open,
        hasUnknownColumnsRecursive:
          type.open || type.members.some((member) => hasUnknown(member.type)),
      };
    case 'any':
      return { type: 'MLDB::AnyValueInfo', isConstant };
  }
}

function hasUnknown(type: ValueType): boolean {
  if (type.kind === 'any') return true;
  if (type.kind !== 'row') return false;
  return type.open || type.members.some((member) => hasUnknown(member.type));
}
