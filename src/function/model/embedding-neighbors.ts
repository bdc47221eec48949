import { Type } from 'typebox';
import { graphIndex } from '../../learn/neighbor/graph-index.ts';
import {
  flatIndex,
  type Metric,
  type Neighbor,
  type NeighborIndex,
  PointSpace,
} from '../../learn/neighbor/point-space.ts';
import { graphOf, readCoordinates } from '../../learn/neighbor/stored-graph.ts';
import { vantagePointTree } from '../../learn/neighbor/vantage-point-tree.ts';
import { ANY_TYPE, OPEN_ROW_TYPE } from '../../plan/type/type.ts';
import { tableReference } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { type RowNamesView, rowNamesView } from '../../value/column/row-names.ts';
import type { ColumnarSnapshot, GraphSnapshot } from '../../value/column/snapshot.ts';
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
import { type FunctionContext, functionType } from '../function-type.ts';
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
    efSearch: Type.Optional(
      Type.Integer({
        description: 'points that a search keeps in sight, where the index is approximate',
        minimum: 1,
      }),
    ),
    exact: Type.Boolean({
      description: 'true: looks at all rows, whatever the index is',
      default: false,
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
          members: ['coords', 'maxDistance', 'numNeighbors', 'efSearch', 'exact'].map(member),
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
        if (!(count >= 0)) {
          throw failure('SQL_EXECUTION', `numNeighbors must be at least 0; got ${count}`);
        }
        const distance =
          numberOf(memberOf(input, 'maxDistance')) ??
          params.defaultMaxDistance ??
          Number.POSITIVE_INFINITY;
        const ef = numberOf(memberOf(input, 'efSearch')) ?? params.efSearch;
        if (ef !== undefined && !(ef >= 1)) {
          throw failure('SQL_EXECUTION', `efSearch must be at least 1; got ${ef}`);
        }
        const isExact = numberOf(memberOf(input, 'exact'));
        const exact = isExact === undefined ? params.exact : isExact !== 0;
        const ts = effectiveTs(coords ?? input);
        return neighborsOf(space, coords, { count, distanceMax: distance, ef, exact, ts });
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

interface Asked {
  readonly count: number;
  readonly distanceMax: number;
  readonly ef: number | undefined;
  readonly exact: boolean;
  readonly ts: number;
}

function neighborsOf(
  space: NamedSpace,
  coords: Value | undefined,
  { count, distanceMax, ef, exact, ts }: Asked,
): Row {
  let found: readonly Neighbor[] = [];
  if (space.points.count > 0) {
    const { query, own } = queryOf(space, coords);
    const options = { exact, ef: ef === undefined ? undefined : Math.floor(ef), own };
    found = space.index.search(query, Math.max(0, Math.floor(count)), distanceMax, options);
  }
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

interface Query {
  readonly query: Float32Array;
  /** the row that it is */
  readonly own?: number;
}

/** The point that is asked about. */
function queryOf(space: NamedSpace, coords: Value | undefined): Query {
  const { points, names, columns } = space;
  if (coords instanceof Scalar && coords.atom !== null) {
    const text = atomText(coords.atom);
    const [row] = [...names.find(Path.of(text)), ...foundParsed(names, text)];
    if (row === undefined) {
      throw failure('SQL_EXECUTION', `Couldn't find row '${text}' in embedding`, { row: text });
    }
    const start = row * points.width;
    return { query: points.coordinates.subarray(start, start + points.width), own: row };
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
    return { query };
  }
  if (!(coords instanceof Row)) {
    throw failure('SQL_EXECUTION', 'coords must be the name of a row, or a row of coordinates');
  }
  const given = new Map<string, unknown>();
  flatten(coords, [], (path, atom) => given.set(path.toString(), atom));
  for (const [index, column] of columns.entries()) {
    query[index] = coordinate(given.get(column.toString()), column);
  }
  return { query };
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
  { namespace, arenas, callScope, datasetConfig }: FunctionContext,
): NamedSpace {
  const dataset = tableDataset(table);
  const config = dataset === undefined ? undefined : datasetConfig(dataset);
  if (dataset === undefined || config?.type !== 'embedding') {
    throw failure(
      'INVALID_PARAMETER',
      `A dataset of type embedding needs to be provided for the nearest.neighbors function; got ${config === undefined ? JSON.stringify(table) : `'${dataset}' of type '${config.type}'`}`,
    );
  }
  const { snapshot } = namespace.dataset(dataset);
  if (snapshot?.layout !== 'columnar') throw new Error('embeddings are stored by column');
  const metric = config.params.metric === 'cosine' ? 'cosine' : 'euclidean';
  const isFlat = config.params.index === 'flat';
  const key = `${snapshot.id} ${metric} ${isFlat} ${columnName}`;
  const known = spaces.get(key);
  if (known !== undefined && snapshot.rowCount > 0) return known;
  const check = () => callScope.checkCancelled();
  const space = readSpace(snapshot, columnName, { metric, isFlat }, arenas, check);
  if (spaces.size >= SPACE_COUNT_MAX) spaces.delete(spaces.keys().next().value as string);
  spaces.set(key, space);
  return space;
}

function readSpace(
  snapshot: ColumnarSnapshot,
  columnName: string,
  { metric, isFlat }: { readonly metric: Metric; readonly isFlat: boolean },
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
  const coordinates = readCoordinates(chosen, rowCount, arenas, check);
  // The graph is one of all columns.
  const graph = width === snapshot.columns.length ? snapshot.graph : undefined;
  const points = new PointSpace(metric, width, coordinates);
  return {
    points,
    index: indexOf(points, graph, isFlat, arenas, check),
    names: rowNamesView(snapshot.rowNames, rowCount, arenas),
    columns: chosen.map(({ path }) => new Path(path.slice(prefix.length))),
  };
}

function indexOf(
  points: PointSpace,
  graph: GraphSnapshot | undefined,
  isFlat: boolean,
  arenas: ArenaAllocator,
  check: () => void,
): NeighborIndex {
  if (graph !== undefined) return graphIndex(points, graphOf(graph, arenas), graph.efSearch);
  if (isFlat || points.count === 0) return flatIndex(points);
  return vantagePointTree(points, check);
}
