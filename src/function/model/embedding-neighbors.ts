import { Type } from 'typebox';
import { flatIndex, type NeighborIndex, PointSpace } from '../../learn/neighbor/point-space.ts';
import { vantagePointTree } from '../../learn/neighbor/vantage-point-tree.ts';
import { ANY_TYPE, OPEN_ROW_TYPE } from '../../plan/type/type.ts';
import { tableReference } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { ColumnView } from '../../value/column/column-view.ts';
import { type RowNamesView, rowNamesView } from '../../value/column/row-names.ts';
import type { ColumnarSnapshot } from '../../value/column/snapshot.ts';
import { Path } from '../../value/path.ts';
import { atomText } from '../../value/text.ts';
import {
  Embedding,
  effectiveTs,
  flatten,
  Row,
  RowBuilder,
  Scalar,
  type Value,
} from '../../value/value.ts';
import { type FunctionScope, functionType } from '../function-type.ts';
import { memberOf } from '../input-member.ts';
import { tableDataset } from '../table-dataset.ts';

/** The rows of an embedding that are nearest to a row or a point. */
export const embeddingNeighbors = functionType({
  name: 'embedding.neighbors',
  aliases: ['nearest.neighbors'],
  summary: 'The rows of an embedding that are nearest to one of its rows, or to a point.',
  parameters: Type.Object({
    dataset: tableReference({ description: 'dataset of type embedding' }),
    defaultNumNeighbors: Type.Integer({
      description: 'neighbors when the call does not say how many',
      default: 10,
      minimum: 0,
    }),
    defaultMaxDistance: Type.Optional(
      Type.Number({ description: 'largest distance when the call does not say; default: any' }),
    ),
    columnName: Type.String({
      description: 'the coordinates are the columns below this one; empty: all columns',
      default: '',
    }),
  }),
  binding: () => 'use',
  compile(params, scope) {
    const space = spaceOf(params.dataset, params.columnName, scope);
    const member = (name: string) => ({ name, type: ANY_TYPE });
    return {
      input: [
        {
          kind: 'row',
          members: [member('coords'), member('maxDistance'), member('numNeighbors')],
          open: false,
        },
      ],
      output: {
        kind: 'row',
        members: [
          { name: 'distances', type: OPEN_ROW_TYPE },
          { name: 'neighbors', type: ANY_TYPE },
        ],
        open: false,
      },
      takesAnyValue: false,
      isLight: false,
      apply(input) {
        const coords = memberOf(input, 'coords');
        const count = numberOf(memberOf(input, 'numNeighbors')) ?? params.defaultNumNeighbors;
        const distance =
          numberOf(memberOf(input, 'maxDistance')) ??
          params.defaultMaxDistance ??
          Number.POSITIVE_INFINITY;
        return neighborsOf(space, coords, count, distance, effectiveTs(coords ?? input));
      },
    };
  },
});

interface NamedSpace {
  readonly points: PointSpace;
  readonly index: NeighborIndex;
  readonly names: RowNamesView;
  /** paths of the coordinates, in order, without what is common to all */
  readonly columns: readonly Path[];
}

function neighborsOf(
  space: NamedSpace,
  coords: Value | undefined,
  count: number,
  distanceMax: number,
  ts: number,
): Row {
  const found =
    space.points.count === 0
      ? []
      : space.index.search(queryOf(space, coords), Math.max(0, count), distanceMax);
  const names = found.map(({ point }) => space.names.pathAt(point));
  const distances = new RowBuilder();
  for (const [index, { distance }] of found.entries()) {
    distances.addPath(names[index] as Path, new Scalar(distance, ts));
  }
  const texts = names.map((name) => name.toText());
  return new Row(
    ['distances', 'neighbors'],
    [distances.build(), new Embedding([texts.length], texts, ts)],
  );
}

function numberOf(value: Value | undefined): number | undefined {
  if (!(value instanceof Scalar) || value.atom === null) return undefined;
  const { atom } = value;
  if (typeof atom === 'number') return atom;
  throw failure(
    'SQL_EXECUTION',
    `expected a number of neighbors or a distance; got ${atomText(atom)}`,
  );
}

/** The point that is asked about. */
function queryOf(space: NamedSpace, coords: Value | undefined): Float32Array {
  const { points, names, columns } = space;
  if (coords instanceof Scalar && coords.atom !== null) {
    const text = atomText(coords.atom);
    const [row] = [...names.find(Path.of(text)), ...foundParsed(names, text)];
    if (row === undefined) {
      throw failure('SQL_EXECUTION', `Couldn't find row '${text}' in embedding`, { row: text });
    }
    return points.coordinates.subarray(row * points.width, (row + 1) * points.width);
  }
  const query = new Float32Array(points.width);
  if (coords instanceof Embedding) {
    if (coords.atoms.length !== query.length) {
      throw failure(
        'SQL_EXECUTION',
        `coords has ${coords.atoms.length} elements; the embedding has ${query.length} columns`,
      );
    }
    for (const [index, atom] of coords.atoms.entries()) query[index] = coordinate(atom, index);
    return query;
  }
  if (!(coords instanceof Row)) {
    throw failure('SQL_EXECUTION', 'coords must be the name of a row, or a row of coordinates');
  }
  const given = new Map<string, unknown>();
  flatten(coords, [], (path, atom) => given.set(path.toString(), atom));
  for (const [index, column] of columns.entries()) {
    query[index] = coordinate(given.get(column.toString()), column);
  }
  return query;
}

function foundParsed(names: RowNamesView, text: string): readonly number[] {
  try {
    return names.find(Path.parse(text));
  } catch {
    return [];
  }
}

function coordinate(atom: unknown, place: Path | number): number {
  if (typeof atom === 'number' && Number.isFinite(atom)) return atom;
  throw failure('SQL_EXECUTION', `coords has no finite number for column '${place}'`);
}

/** Spaces that were read last, by content and columns. */
const spaces = new Map<string, NamedSpace>();
const SPACE_COUNT_MAX = 4;

function spaceOf(
  table: string | { readonly id?: string | undefined },
  columnName: string,
  { catalog, arenas, callScope, datasetConfig }: FunctionScope,
): NamedSpace {
  const dataset = tableDataset(table);
  const config = dataset === undefined ? undefined : datasetConfig(dataset);
  if (dataset === undefined || config?.type !== 'embedding') {
    throw failure(
      'INVALID_PARAMETER',
      `A dataset of type embedding needs to be provided for the nearest.neighbors function; got ${config === undefined ? JSON.stringify(table) : `'${dataset}' of type '${config.type}'`}`,
    );
  }
  const { snapshot } = catalog.dataset(dataset);
  if (snapshot?.layout !== 'columnar') throw new Error('embeddings are stored by column');
  const metric = config.params.metric === 'cosine' ? 'cosine' : 'euclidean';
  const key = `${snapshot.id} ${metric} ${columnName}`;
  const known = spaces.get(key);
  if (known !== undefined && snapshot.rowCount > 0) return known;
  const space = readSpace(snapshot, columnName, metric, arenas, () => callScope.checkCancelled());
  if (spaces.size >= SPACE_COUNT_MAX) spaces.delete(spaces.keys().next().value as string);
  spaces.set(key, space);
  return space;
}

function readSpace(
  snapshot: ColumnarSnapshot,
  columnName: string,
  metric: 'euclidean' | 'cosine',
  arenas: ArenaAllocator,
  check: () => void,
): NamedSpace {
  const { rowCount } = snapshot;
  const prefix = columnName === '' ? new Path([]) : Path.parse(columnName);
  const chosen = snapshot.columns.filter(({ path }) => new Path(path).startsWith(prefix));
  if (chosen.length === 0 && rowCount > 0) {
    const known = snapshot.columns.map(({ path }) => new Path(path).toString());
    throw failure(
      'INVALID_PARAMETER',
      `there are no columns below '${columnName}' in the embedding; known are ${known.slice(0, 20).join(', ')}`,
      { columnName, knownColumnNames: known },
    );
  }
  const width = chosen.length;
  const coordinates = new Float32Array(rowCount * width);
  for (const [column, stored] of chosen.entries()) {
    check();
    const view = new ColumnView(stored, arenas);
    let offset = column;
    for (let c = 0; c < view.chunkCount; c++) {
      const chunk = view.chunk(c);
      for (let row = 0; row < chunk.rowCount; row++, offset += width) {
        coordinates[offset] = chunk.numberAt(row);
      }
    }
  }
  const points = new PointSpace(metric, width, coordinates);
  return {
    points,
    index: rowCount === 0 ? flatIndex(points) : vantagePointTree(points, check),
    names: rowNamesView(snapshot.rowNames, rowCount, arenas),
    columns: chosen.map(({ path }) => new Path(path.slice(prefix.length))),
  };
}
