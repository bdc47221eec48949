import { Type } from 'typebox';
import { quoteName } from '../dataset/parameter.ts';
import { queryRows } from '../exec/query.ts';
import type { RelationRow } from '../plan/namespace.ts';
import { OPEN_ROW_TYPE } from '../plan/type/type.ts';
import { tableReference } from '../schema/declare.ts';
import { failure } from '../util/error.ts';
import { Path } from '../value/path.ts';
import { Embedding, effectiveTs, flatten, Row } from '../value/value.ts';
import { type FunctionContext, functionType } from './function-type.ts';
import { memberOf } from './input-member.ts';
import { tableDataset } from './table-dataset.ts';

const AGGREGATORS = ['avg', 'min', 'max', 'sum'] as const;

/** One vector of the vectors of words. */
export const pooling = functionType({
  name: 'pooling',
  summary: 'One vector of the vectors of words: their mean, minimum, maximum or sum.',
  parameters: Type.Object({
    aggregators: Type.Array(Type.String(), {
      description: `what is made of the vectors, one after the other: ${AGGREGATORS.join(', ')}`,
      default: ['avg'],
    }),
    embeddingDataset: tableReference({ description: 'a row for each word, named by it' }),
  }),
  binding: () => 'use',
  check({ aggregators }) {
    for (const name of aggregators) {
      if ((AGGREGATORS as readonly string[]).includes(name)) continue;
      throw failure(
        'INVALID_PARAMETER',
        `Unknown aggregator: ${name}; accepted are ${AGGREGATORS.join(', ')}`,
      );
    }
  },
  compile({ aggregators, embeddingDataset }, scope) {
    const names = aggregators.length === 0 ? ['avg'] : aggregators;
    const vectors = wordVectors(embeddingDataset, scope);
    return {
      input: [{ kind: 'row', members: [{ name: 'words', type: OPEN_ROW_TYPE }], open: false }],
      output: { kind: 'row', members: [{ name: 'embedding', type: { kind: 'any' } }], open: false },
      takesAnyValue: false,
      isLight: false,
      apply(input) {
        const words = memberOf(input, 'words');
        const found = words instanceof Row ? vectors.find([...new Set(words.names)]) : [];
        const atoms = names.flatMap((name) => pooled(name, found, vectors.width));
        const ts = effectiveTs(words ?? input);
        return new Row(['embedding'], [new Embedding([atoms.length], atoms, ts)]);
      },
    };
  },
});

function pooled(name: string, vectors: readonly Float64Array[], width: number): number[] {
  return Array.from({ length: width }, (_, column) => {
    if (vectors.length === 0) return 0;
    const values = vectors.map((vector) => vector[column] as number);
    switch (name) {
      case 'min':
        return Math.min(...values);
      case 'max':
        return Math.max(...values);
      default: {
        const sum = values.reduce((total, value) => total + value, 0);
        return name === 'sum' ? sum : sum / values.length;
      }
    }
  });
}

interface WordVectors {
  readonly width: number;
  find(words: readonly string[]): readonly Float64Array[];
}

/** Vectors of a dataset are looked up row by row, those of other tables read once. */
function wordVectors(
  table: string | { readonly id?: string | undefined },
  { namespace, callScope, executor }: FunctionContext,
): WordVectors {
  const dataset = tableDataset(table);
  if (dataset !== undefined) {
    const relation = namespace.dataset(dataset);
    const { snapshot } = relation;
    const columns =
      snapshot?.layout === 'columnar'
        ? snapshot.columns.map(({ path }) => new Path(path))
        : relation.columns().map(({ path }) => path);
    const index = new Map(columns.map((path, position) => [path.toString(), position]));
    return {
      width: columns.length,
      find: (words) =>
        words.flatMap((word) =>
          relation.findRows(Path.of(word), 'all').map((row) => vectorOf(row, index)),
        ),
    };
  }
  const from = typeof table === 'string' ? table : quoteName(table.id ?? '');
  const options = { namespace, scope: callScope, executor };
  const rows = [...queryRows(`SELECT * FROM ${from}`, options)];
  const index = new Map<string, number>();
  for (const { row } of rows) {
    flatten(row, [], (path) => {
      const key = path.toString();
      if (!index.has(key)) index.set(key, index.size);
    });
  }
  const byName = new Map(rows.map((row) => [row.name.toString(), vectorOf(row, index)]));
  return {
    width: index.size,
    find: (words) =>
      words.flatMap((word) => {
        const vector = byName.get(Path.of(word).toString());
        return vector === undefined ? [] : [vector];
      }),
  };
}

function vectorOf({ row }: RelationRow, index: ReadonlyMap<string, number>): Float64Array {
  const vector = new Float64Array(index.size);
  flatten(row, [], (path, atom) => {
    const position = index.get(path.toString());
    if (position !== undefined && typeof atom === 'number') vector[position] = atom;
  });
  return vector;
}
