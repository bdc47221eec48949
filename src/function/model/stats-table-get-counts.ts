import { Type } from 'typebox';
import { countsFormula } from '../../learn/formula/point-formulas.ts';
import { keyText } from '../../learn/table/key.ts';
import { countsOf, type StatsTables, statsTablesFromJson } from '../../learn/table/stats-table.ts';
import { url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { Path } from '../../value/path.ts';
import { flatten, Row, RowBuilder, Scalar } from '../../value/value.ts';
import { functionType } from '../function-type.ts';
import { loadModel } from './model-file.ts';
import { outputRowType } from './point-input.ts';

/** The counts of keys that statsTable.train made. */
export const statsTableGetCounts = functionType({
  name: 'statsTable.getCounts',
  summary: 'Tells how often the values of a row were seen in training, and with which outcomes.',
  parameters: Type.Object({
    statsTableFileUrl: url({ description: 'the tables that statsTable.train saved' }),
  }),
  binding: () => 'creation',
  async load({ statsTableFileUrl }, context) {
    const read = (json: unknown) => statsTablesFromJson('statsTable.getCounts', json);
    return { ...(await loadModel(statsTableFileUrl, context, read)), spans: [] };
  },
  compile(_params, _scope, artifact) {
    const tables = artifact as StatsTables;
    const prefixes = ['trial', ...tables.outcomes].map((name) => Path.of(name));
    const row = { kind: 'row', members: [], open: true } as const;
    return {
      input: [{ kind: 'row', members: [{ name: 'keys', type: row }], open: false }],
      output: outputRowType('counts', row),
      takesAnyValue: false,
      features: { member: 'keys', names: [...tables.columns.keys()] },
      formula: () => countsFormula(tables, (column) => Path.parse(column).elements),
      isLight: true,
      apply(input) {
        const keys = input instanceof Row ? input.values[input.indexOf('keys')] : undefined;
        if (!(keys instanceof Row)) {
          throw failure('INVALID_PARAMETER', 'wrong input type to stats table: keys is not a row');
        }
        const builder = new RowBuilder();
        flatten(keys, [], (column, atom, ts) => {
          const table = tables.columns.get(column.toString());
          if (table === undefined) return;
          const counts = countsOf(tables, table, keyText(atom));
          for (const [i, prefix] of prefixes.entries()) {
            builder.addPath(prefix.concat(column), new Scalar(counts[i] as number, ts));
          }
        });
        return new Row(['counts'], [builder.build()]);
      },
    };
  },
});
