import { Type } from 'typebox';
import { dealFolds, deciles, type FoldRow } from '../../learn/folds.ts';
import { MODES } from '../../learn/label.ts';
import { choice, inputQuery, outputDataset } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { every } from '../../util/every.ts';
import { atomToJsonText } from '../../value/json.ts';
import { Path } from '../../value/path.ts';
import { cellsOf, type Row } from '../../value/value.ts';
import { runOnCreation } from '../parameter.ts';
import { workerProcedure } from '../procedure-type.ts';
import { randomSeed } from './model-parameter.ts';

/** Comparisons between two looks at the cancel flag. */
const STEPS_PER_CHECK = 16_384;

/** Deals the rows of a query out to folds, for experiments. */
export const classifierFolds = workerProcedure({
  name: 'classifier.folds',
  summary: 'Deals rows out to folds: evenly, by label, or whole groups at a time.',
  parameters: Type.Object({
    inputData: inputQuery({
      description: 'selects the rows; `label` is spread evenly, rows of one `group` stay together',
    }),
    mode: choice(MODES, {
      description: 'what the label is; of numbers, tenths are spread',
      default: 'boolean',
    }),
    kfold: Type.Integer({ description: 'folds', minimum: 2, default: 2 }),
    stratify: Type.Boolean({
      description: 'spread labels evenly; false: rows alone',
      default: true,
    }),
    repeats: Type.Integer({ description: 'dealings, each its own', minimum: 1, default: 1 }),
    outputDataset: outputDataset({
      description: 'a row for each row: columns fold0, fold1, … one for each dealing',
      defaultType: 'tabular',
    }),
    randomSeed,
    ...runOnCreation,
  }),
  run(context, params) {
    const { kfold, mode, repeats, stratify } = params;
    const names: Path[] = [];
    const rows: FoldRow[] = [];
    const numbers: number[] = [];
    for (const { name, row } of context.query(params.inputData).run()) {
      if (rows.length % 256 === 0) context.checkCancelled();
      const label = textOf(row, 'label');
      const group = textOf(row, 'group');
      if (label === undefined) continue;
      names.push(name);
      numbers.push(Number(label));
      const stratum = stratify ? label : '';
      rows.push({
        name: name.toString(),
        stratum,
        ...(group === undefined ? {} : { group }),
      });
    }
    if (rows.length < kfold) {
      throw failure('DATA_ERROR', `${rows.length} rows with a label cannot make ${kfold} folds`);
    }
    const strata = stratify && mode === 'regression' ? deciles(numbers) : undefined;
    const dealt = rows.map((row, index) =>
      strata === undefined ? row : { ...row, stratum: String(strata[index]) },
    );
    const look = every(STEPS_PER_CHECK, () => context.checkCancelled());
    const folds = Array.from({ length: repeats }, (_, repeat) =>
      dealFolds(dealt, kfold, params.randomSeed + repeat, look),
    );
    const output = context.output(params.outputDataset, 'tabular');
    const columns = folds.map((_, repeat) => new Path([`fold${repeat}`]));
    for (const [index, name] of names.entries()) {
      look();
      const cells = folds.map(
        (fold, repeat) =>
          [columns[repeat] as Path, fold[index] as number, context.startedAt] as const,
      );
      output.record({ name, cells });
    }
    return { result: output.commit() };
  },
});

/** The member's atoms as text; undefined when there are none. */
function textOf(row: Row, name: string): string | undefined {
  const atoms = row
    .all(name)
    .flatMap(cellsOf)
    .filter(({ atom }) => atom !== null)
    .map(({ path, atom }) => `${path.length === 0 ? '' : `${path}=`}${atomToJsonText(atom)}`);
  return atoms.length === 0 ? undefined : atoms.join(',');
}
