// Scalar functions over rows and embeddings: mapped over every atom at any depth.
import type { ScalarFunction } from '../../../plan/function.ts';
import { failure } from '../../../util/error.ts';
import type { Atom } from '../../../value/atom.ts';
import { laterOf } from '../../../value/timestamp.ts';
import { Embedding, Row, Scalar, type Value } from '../../../value/value.ts';
import type { AtomCall } from './atom-call.ts';

/** @throws SQL_EXECUTION when the function does not map, or not over these arguments */
export function mapElements(
  declaration: ScalarFunction,
  call: AtomCall,
  args: readonly Value[],
): Value {
  const { elementwise } = declaration;
  const propagates = declaration.nulls === 'propagate';
  const [first, ...others] = args as [Value, ...Value[]];
  const mapsSecond = elementwise === 'both' && others.length === 1;
  const second = others[0];
  if (elementwise === undefined || (!mapsSecond && !others.every(isScalar))) {
    throw notAtomic(declaration, args);
  }
  if (propagates && args.some((arg) => arg instanceof Scalar && arg.atom === null)) {
    return new Scalar(
      null,
      args.reduce((ts, arg) => laterOf(ts, tsOf(arg)), Number.NaN),
    );
  }
  if (mapsSecond && second !== undefined && !(second instanceof Scalar)) {
    return first instanceof Scalar
      ? mapOne(
          second,
          first.ts,
          guarded(propagates, (atom) => call(first.atom, atom)),
        )
      : mapPair(first, second, propagates, call);
  }
  const rest = others.map((arg) => (arg as Scalar).atom);
  const ts = others.reduce((latest, arg) => laterOf(latest, tsOf(arg)), Number.NaN);
  return mapOne(
    first,
    ts,
    guarded(propagates, (atom) => call(atom, ...rest)),
  );
}

function isScalar(value: Value): value is Scalar {
  return value instanceof Scalar;
}

function tsOf(value: Value): number {
  return value instanceof Row ? Number.NaN : value.ts;
}

function guarded(propagates: boolean, call: (atom: Atom) => Atom): (atom: Atom) => Atom {
  return propagates ? (atom) => (atom === null ? null : call(atom)) : call;
}

/** Every atom of one value; timestamps are at least `ts`. */
function mapOne(value: Value, ts: number, call: (atom: Atom) => Atom): Value {
  if (value instanceof Scalar) return new Scalar(call(value.atom), laterOf(value.ts, ts));
  if (value instanceof Embedding) {
    return new Embedding(value.shape, value.atoms.map(call), laterOf(value.ts, ts));
  }
  return new Row(
    value.names,
    value.values.map((member) => mapOne(member, ts, call)),
  );
}

function mapPair(first: Value, second: Value, propagates: boolean, call: AtomCall): Value {
  if (!(first instanceof Embedding && second instanceof Embedding)) {
    throw failure('SQL_EXECUTION', 'a function of two values cannot be applied to two rows');
  }
  if (first.atoms.length !== second.atoms.length) {
    throw failure(
      'SQL_EXECUTION',
      `Attempt to apply function to incompatibly sized embeddings: ${first.atoms.length} and ${second.atoms.length} elements`,
    );
  }
  const atoms = first.atoms.map((atom, index) => {
    const other = second.atoms[index] as Atom;
    return propagates && (atom === null || other === null) ? null : call(atom, other);
  });
  return new Embedding(first.shape, atoms, laterOf(first.ts, second.ts));
}

function notAtomic(declaration: ScalarFunction, args: readonly Value[]): Error {
  const index = args.findIndex((arg) => !(arg instanceof Scalar));
  const type = args[index] instanceof Embedding ? 'embedding' : 'structured';
  const message =
    declaration.structuredMessage?.(index) ??
    `Cannot convert value of type '${type}' to 'atomic value'`;
  return failure('SQL_EXECUTION', message);
}
