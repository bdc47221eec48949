// Decompositions as model files, and the embedding of single rows.
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { keyOfAtom } from '../../value/canonical-key.ts';
import { atomFromJson, atomToJsonText } from '../../value/json.ts';
import {
  invalidMember,
  type JsonObject,
  makeContainer,
  openContainer,
  readChoice,
  readList,
  readNumber,
  readObject,
  readText,
} from '../model/container.ts';
import { columnFinder } from './svd.ts';
import { infiniteValue, type VirtualColumn } from './virtual-column.ts';

const KIND = 'svd.embedRow';
const VERSION = 1;

export interface SvdModel {
  readonly columns: readonly VirtualColumn[];
  readonly singularValues: Float64Array;
  readonly columnVectors: readonly Float64Array[];
}

/** @param modelTs when it was trained, ISO 8601 */
export function svdToJson(
  { columns, singularValues, columnVectors }: SvdModel,
  modelTs: string,
): JsonObject {
  const names = [...new Set(columns.map(({ columnName }) => columnName))];
  const index = new Map<string, [unknown, number][]>(names.map((name) => [name, []]));
  const shown = columns.map((column, i) => {
    const cellValue = column.op === 'EQUAL' ? JSON.parse(atomToJsonText(column.cellValue)) : null;
    index.get(column.columnName)?.push([cellValue, i]);
    return {
      columnName: column.columnName,
      cellValue,
      op: column.op,
      offset: column.op === 'VALUE' ? column.offset : 0,
      scale: column.op === 'VALUE' ? column.scale : 1,
      rowCount: column.rowCount,
      singularVector: Array.from(columnVectors[i] as Float64Array),
    };
  });
  return makeContainer(KIND, VERSION, names, {
    columns: shown,
    singularValues: Array.from(singularValues),
    columnIndex: Object.fromEntries(
      names.map((name) => [name, { columnName: name, values: index.get(name) }]),
    ),
    modelTs,
  });
}

/** @throws DATA_ERROR when it is not what svdToJson writes */
export function svdFromJson(json: unknown): SvdModel {
  const file = openContainer(json, KIND, VERSION);
  const singularValues = Float64Array.from(readList(file, 'singularValues'), (value) =>
    readNumber(value, 'singularValues', 0),
  );
  const columnVectors: Float64Array[] = [];
  const columns = readList(file, 'columns').map((each): VirtualColumn => {
    const column = readObject(each, 'columns');
    const columnName = readText(column.columnName, 'columnName');
    const vector = Float64Array.from(readList(column, 'singularVector'), (value) =>
      readNumber(value, 'singularVector'),
    );
    if (vector.length !== singularValues.length) {
      throw invalidMember('singularVector', `${singularValues.length} numbers`);
    }
    columnVectors.push(vector);
    const rowCount = readNumber(column.rowCount, 'rowCount', 0);
    const op = readChoice(column.op, 'op', ['VALUE', 'EQUAL'] as const);
    if (op === 'EQUAL') {
      return { op, columnName, cellValue: atomFromJson(column.cellValue), rowCount };
    }
    const offset = readNumber(column.offset, 'offset');
    return { op, columnName, offset, scale: readNumber(column.scale, 'scale'), rowCount };
  });
  return { columns, singularValues, columnVectors };
}

export interface EmbedOptions {
  /** dimensions that are kept, from the first */
  readonly width: number;
  /** false: a value that training never saw is refused */
  readonly acceptsUnknown: boolean;
}

/** Adds the cells of one row up to its embedding. */
export interface RowEmbedder {
  /** @throws INVALID_PARAMETER for a value that training never saw */
  add(columnName: string, atom: Atom): void;
  /** The embedding of what was added since the last call; zeros when nothing is known. */
  take(): Float64Array;
}

export function rowEmbedder(model: SvdModel, options: EmbedOptions): RowEmbedder {
  const { columns, columnVectors, singularValues } = model;
  const { width, acceptsUnknown } = options;
  const find = columnFinder(columns);
  let sum = new Float64Array(width);
  const addVector = (index: number, value: number): void => {
    const vector = columnVectors[index] as Float64Array;
    for (let d = 0; d < width; d++) sum[d] = (sum[d] as number) + value * (vector[d] as number);
  };
  return {
    add(name, atom) {
      if (atom === null || Number.isNaN(atom)) return;
      const { value, equal } = find(name);
      if (value < 0 && equal.size === 0) return;
      const number = typeof atom === 'bigint' ? Number(atom) : atom;
      if (typeof number === 'number' && !Number.isFinite(number)) throw infiniteValue(name, number);
      const column = columns[value];
      if (column?.op === 'VALUE' && typeof number === 'number') {
        return addVector(value, (number - column.offset) * column.scale);
      }
      const known = equal.get(keyOfAtom(atom));
      const only = singleNumber(columns, equal);
      if (only !== undefined && typeof number === 'number') return addVector(only, number);
      if (known !== undefined) return addVector(known, 1);
      if (!acceptsUnknown) throw unknownValue(name, atom, value >= 0 || only !== undefined);
    },
    take() {
      const embedding = sum.map((value, d) => value / (singularValues[d] as number));
      sum = new Float64Array(width);
      return embedding;
    },
  };
}

/** The virtual column of a column that always had the same number. */
function singleNumber(
  columns: readonly VirtualColumn[],
  equal: ReadonlyMap<unknown, number>,
): number | undefined {
  if (equal.size !== 1) return undefined;
  const [index] = equal.values();
  const column = columns[index as number];
  return column?.op === 'EQUAL' && typeof column.cellValue === 'number' ? index : undefined;
}

function unknownValue(name: string, atom: Exclude<Atom, null>, onlyNumbers: boolean): Error {
  const shown = atomToJsonText(atom);
  if (onlyNumbers) {
    return failure(
      'INVALID_PARAMETER',
      `Column '${name}' passed as a string value ${shown} but only numbers were seen in training`,
    );
  }
  if (typeof atom === 'number' || typeof atom === 'bigint') {
    return failure(
      'INVALID_PARAMETER',
      `Column '${name}' was a string in training but has numeric value ${shown} when passed to SVD`,
    );
  }
  return failure(
    'INVALID_PARAMETER',
    `Column '${name}' passed a value ${shown} that was never seen in training when passed to SVD`,
  );
}
