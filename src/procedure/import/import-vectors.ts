// Reads files of word vectors into a dataset.
import { type Static, Type } from 'typebox';
import type { RecordedCell } from '../../dataset/recorded-row.ts';
import { compileExpression } from '../../exec/prepared-row.ts';
import { readVectors } from '../../format/vectors/vector-file.ts';
import { atomType } from '../../plan/type/type.ts';
import { outputDataset, url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { Path } from '../../value/path.ts';
import { atomText } from '../../value/text.ts';
import { MINUS_INFINITY, Timestamp } from '../../value/timestamp.ts';
import { constant, Row, Scalar } from '../../value/value.ts';
import { runOnCreation } from '../parameter.ts';
import { type ProcedureContext, type ProcedureResult, workerProcedure } from '../procedure-type.ts';
import { importResult } from './import-result.ts';

/** Words between two reports of progress. */
const WORDS_PER_REPORT = 1024;
const NAMED_DEFAULT = 'word';

const PARAMETERS = Type.Object({
  dataFileUrl: url({ description: 'file of vectors: word2vec (binary or text) or GloVe' }),
  outputDataset: Type.Optional(
    outputDataset({
      description: 'dataset to make',
      defaultType: 'embedding',
      aliases: ['output'],
    }),
  ),
  offset: Type.Integer({ description: 'words to skip', default: 0, minimum: 0 }),
  limit: Type.Integer({
    description: 'words to record after the offset; negative: all',
    default: -1,
  }),
  named: Type.String({
    description: 'row name: an expression over word and fileTimestamp()',
    default: NAMED_DEFAULT,
  }),
  ...runOnCreation,
});

type ImportVectorsParams = Static<typeof PARAMETERS>;

export const importVectors = workerProcedure({
  name: 'import.vectors',
  aliases: ['import.word2vec'],
  summary: 'Reads the word vectors of word2vec and GloVe, a row each.',
  parameters: PARAMETERS,
  run: run,
});

async function run(
  context: ProcedureContext,
  params: ImportVectorsParams,
): Promise<ProcedureResult> {
  const { dataFileUrl, offset, limit } = params;
  const progress = context.steps([{ name: 'iterating', type: 'counter' }]);
  progress.next();
  const file = await context.files.open(dataFileUrl);
  const nameOf = rowNames(params.named, file.lastModified, context);
  const output = context.output(params.outputDataset, 'embedding');
  const end = limit < 0 ? Number.POSITIVE_INFINITY : offset + limit;
  const columns: Path[] = [];
  let index = 0;
  for await (const { word, vector } of readVectors(file.stream())) {
    if (index >= end) break;
    if (index % WORDS_PER_REPORT === 0) {
      context.checkCancelled();
      progress.update(index);
    }
    if (index++ < offset) continue;
    while (columns.length < vector.length) columns.push(Path.of(String(columns.length)));
    const cells = vector.map((number, position): RecordedCell => {
      return [columns[position] as Path, number, file.lastModified];
    });
    output.record({ name: nameOf(word), cells });
  }
  progress.update(index);
  output.commit();
  progress.finish();
  return importResult(output, params.outputDataset);
}

/** @throws what is wrong with the expression */
function rowNames(
  named: string,
  lastModified: number,
  context: ProcedureContext,
): (word: string) => Path {
  if (named.trim() === NAMED_DEFAULT) return (word) => Path.of(word);
  const expression = compileExpression(named, {
    ...context,
    inputType: {
      kind: 'row',
      members: [{ name: 'word', type: atomType('string') }],
      open: false,
    },
    functions: { fileTimestamp: atomType('timestamp') },
    checkColumn([name = '', ...rest]) {
      if (name === 'word' && rest.length === 0) return;
      const column = new Path([name, ...rest]).toString();
      const message = `Unknown column name in import.word2vec: ${column}`;
      throw failure('SQL_BINDING', message, { columnName: column, knownColumnNames: ['word'] });
    },
  });
  if (expression.readsAll) {
    throw failure('SQL_BINDING', 'Cannot use wildcard in import.word2vec context');
  }
  const fileTimestamp = constant(new Timestamp(lastModified));
  const rowContext = { call: () => fileTimestamp, scope: context.scope };
  return (word) => {
    const input = new Row(['word'], [new Scalar(word, MINUS_INFINITY)]);
    const value = expression.evaluate(input, rowContext);
    if (value instanceof Scalar && value.atom !== null) return Path.of(atomText(value.atom));
    throw failure('SQL_EXECUTION', `named gives no name for the word '${word}'`);
  };
}
