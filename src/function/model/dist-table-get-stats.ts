import { Type } from 'typebox';
import {
  DEFAULT_STATISTICS,
  type DistTables,
  distTablesFromJson,
  distTablesToJson,
  momentsOf,
  observe,
  readStatistics,
  STATISTICS,
  statisticOf,
  WORDS,
} from '../../learn/table/dist-table.ts';
import { keyText } from '../../learn/table/key.ts';
import { url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { Path } from '../../value/path.ts';
import { flatten, Row, RowBuilder, Scalar } from '../../value/value.ts';
import { functionRoute, functionType } from '../function-type.ts';
import { loadModel } from './model-file.ts';
import { outputRowType } from './point-input.ts';

const INCREMENT_BODY = Type.Object({
  keys: Type.Array(Type.Tuple([Type.String(), Type.String()]), {
    description: 'columns with the keys that the observation is added to',
  }),
  outcomes: Type.Array(Type.Number(), { description: 'a number for each outcome' }),
});

/** One more observation, as every thread adds it. */
interface Observation {
  readonly keys: readonly (readonly [string, string])[];
  readonly outcomes: readonly number[];
}

/** The statistics of keys that experimental.distTable.train made. */
export const distTableGetStats = functionType({
  name: 'experimental.distTable.getStats',
  aliases: ['distTable.getStats'],
  summary: 'Gives the statistics of outcomes for the values of a row.',
  parameters: Type.Object({
    distTableFileUrl: url({ description: 'the tables that experimental.distTable.train saved' }),
    statistics: Type.Array(Type.String(), {
      description: `what to tell of each outcome, of ${STATISTICS.join(', ')}; empty: the default`,
      default: [...DEFAULT_STATISTICS],
    }),
  }),
  binding: () => 'creation',
  check: ({ statistics }) => void readStatistics(statistics),
  async load({ distTableFileUrl }, context) {
    return { ...(await loadModel(distTableFileUrl, context, distTablesFromJson)), spans: [] };
  },
  routes: {
    increment: functionRoute({
      summary: 'Adds one observation to each of the listed keys',
      body: INCREMENT_BODY,
      answer(artifact, { keys, outcomes }) {
        const tables = artifact as DistTables;
        for (const [column] of keys) checkTable(tables, column);
        if (outcomes.length !== tables.outcomes.length) {
          throw failure(
            'INVALID_PARAMETER',
            `outcomes has ${outcomes.length} numbers where the tables have ${tables.outcomes.length} (${tables.outcomes.join(', ')})`,
          );
        }
        return { reply: 'OK', change: { keys, outcomes } satisfies Observation };
      },
    }),
    persist: functionRoute({
      summary: 'Saves the tables as they are now',
      body: Type.Object({ modelFileUrl: url({ description: 'where the tables are saved' }) }),
      async answer(artifact, { modelFileUrl }, { files }) {
        const sink = await files.create(modelFileUrl);
        const json = JSON.stringify(distTablesToJson(artifact as DistTables));
        await sink.write(new TextEncoder().encode(json));
        await sink.commit();
        return { reply: 'OK' };
      },
    }),
  },
  change(artifact, change) {
    const { keys, outcomes } = change as Observation;
    for (const [column, key] of keys) observe(artifact as DistTables, column, key, outcomes);
  },
  compile({ statistics: names }, _scope, artifact) {
    const tables = artifact as DistTables;
    const statistics = readStatistics(names);
    const isWords = tables.mode === 'bagOfWords';
    const row = { kind: 'row', members: [], open: true } as const;
    return {
      input: [{ kind: 'row', members: [{ name: 'features', type: row }], open: false }],
      output: outputRowType('stats', row),
      takesAnyValue: false,
      // Any word may be asked for.
      ...(isWords ? {} : { features: { member: 'features', names: [...tables.columns.keys()] } }),
      isLight: true,
      apply(input) {
        const features = input instanceof Row ? input.values[input.indexOf('features')] : undefined;
        if (!(features instanceof Row)) {
          throw failure('INVALID_PARAMETER', 'wrong input type to dist table: features is no row');
        }
        const builder = new RowBuilder();
        flatten(features, [], (column, atom, ts) => {
          if (isWords && atom === null) return;
          const table = isWords
            ? (tables.columns.get(WORDS) ?? new Map<string, Float64Array>())
            : tables.columns.get(column.toString());
          if (table === undefined) return;
          const key = isWords ? column.toString() : keyText(atom);
          for (const [i, outcome] of tables.outcomes.entries()) {
            const moments = momentsOf(table, key, i);
            for (const statistic of statistics) {
              const path = Path.of(outcome).concat(column).concat(Path.of(statistic));
              builder.addPath(path, new Scalar(statisticOf(moments, statistic), ts));
            }
          }
        });
        return new Row(['stats'], [builder.build()]);
      },
    };
  },
});

function checkTable({ columns, mode }: DistTables, column: string): void {
  if (columns.has(column) || (mode === 'bagOfWords' && column === WORDS)) return;
  throw failure(
    'INVALID_PARAMETER',
    `Unknown dist table '${column}'; there are ${[...columns.keys()].join(', ') || 'none'}`,
  );
}
