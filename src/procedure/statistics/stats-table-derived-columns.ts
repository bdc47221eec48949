import { Type } from 'typebox';
import { collectBytes } from '../../file/byte-stream.ts';
import { checkModelFile } from '../../learn/model/container.ts';
import { statsTablesFromJson } from '../../learn/table/stats-table.ts';
import { url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { parseJson } from '../../util/exact-json.ts';
import { runOnCreation } from '../parameter.ts';
import { workerProcedure } from '../procedure-type.ts';

/** Makes a function that computes the same columns from the counts of each table. */
export const statsTableDerivedColumns = workerProcedure({
  name: 'experimental.statsTable.derivedColumnsGenerator',
  aliases: ['statsTable.derivedColumnsGenerator'],
  summary: 'Makes an SQL function that computes columns from the counts of every table.',
  parameters: Type.Object({
    functionId: Type.String({ description: 'id of the function to make or replace', minLength: 1 }),
    statsTableFileUrl: url({ description: 'the tables that statsTable.train saved' }),
    expression: Type.String({
      description:
        'select list, repeated for each table: trial and the outcomes stand for its counts, $tbl for its name',
      minLength: 1,
    }),
    ...runOnCreation,
  }),
  async run(context, { functionId, statsTableFileUrl, expression }) {
    const file = await context.files.open(statsTableFileUrl);
    const bytes = await collectBytes(file.stream());
    const { columns, outcomes } = readTables(bytes, statsTableFileUrl);
    const names = [...columns.keys()].sort();
    const expanded = names.map((name) => forTable(expression, name, ['trial', ...outcomes]));
    context.outputFunction({
      id: functionId,
      type: 'sql.expression',
      params: { expression: expanded.join(', ') },
    });
    return {};
  },
});

function readTables(bytes: Uint8Array, fileUrl: string) {
  try {
    checkModelFile(bytes);
    const json = parseJson(new TextDecoder().decode(bytes));
    return statsTablesFromJson('statsTable.getCounts', json);
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    throw failure('DATA_ERROR', `cannot read the table file ${fileUrl}: ${thrown.message}`, {
      url: fileUrl,
    });
  }
}

/** Whole words that name counts get the table's name behind them. */
function forTable(expression: string, table: string, counts: readonly string[]): string {
  const words = expression.replace(/[\p{L}\p{N}_$]+/gu, (word) =>
    counts.includes(word) ? `${word}.${table}` : word,
  );
  return words.replaceAll('$tbl', table);
}
