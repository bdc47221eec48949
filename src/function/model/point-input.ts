// Reading one point from a function's input: coordinates by name, in any order.
import { atomType, type ValueType } from '../../plan/type/type.ts';
import { failure } from '../../util/error.ts';
import { atomToJsonText } from '../../value/json.ts';
import { laterOf, MINUS_INFINITY } from '../../value/timestamp.ts';
import { flatten, Row, type Value } from '../../value/value.ts';

export interface PointReading {
  readonly point: Float64Array;
  /** the latest timestamp of the coordinates, in seconds */
  readonly ts: number;
}

/**
 * Reads the member `name` of inputs. Columns that the model does not have are ignored.
 * @throws INVALID_PARAMETER naming a coordinate that is missing or no finite number
 */
export function pointReader(
  name: string,
  columnNames: readonly string[],
): (input: Value) => PointReading {
  const positions = new Map(columnNames.map((column, index) => [column, index]));
  return (input) => {
    const member = input instanceof Row ? input.values[input.indexOf(name)] : undefined;
    const point = new Float64Array(columnNames.length).fill(Number.NaN);
    let ts = MINUS_INFINITY;
    if (member !== undefined) {
      flatten(member, [], (path, atom, cellTs) => {
        const position = positions.get(path.toString());
        if (position === undefined || atom === null) return;
        const number = typeof atom === 'bigint' ? Number(atom) : atom;
        if (typeof number !== 'number' || !Number.isFinite(number)) {
          throw failure(
            'INVALID_PARAMETER',
            `value ${atomToJsonText(atom)} of column '${path}' in '${name}' is not a finite number`,
          );
        }
        point[position] = number;
        ts = laterOf(ts, cellTs);
      });
    }
    const missing = point.findIndex(Number.isNaN);
    if (missing >= 0) {
      throw failure(
        'INVALID_PARAMETER',
        `'${name}' has no value for column '${columnNames[missing]}', which the model was trained on`,
      );
    }
    return { point, ts };
  };
}

/** The type of inputs with a row of coordinates named `name`. */
export function pointInputType(name: string, columnNames: readonly string[]): ValueType {
  const members = columnNames.map((column) => ({ name: column, type: atomType('number') }));
  const row: ValueType = { kind: 'row', members, open: false };
  return { kind: 'row', members: [{ name, type: row }], open: false };
}

/** The type of outputs with one member. */
export function outputRowType(name: string, type: ValueType): ValueType {
  return { kind: 'row', members: [{ name, type }], open: false };
}
