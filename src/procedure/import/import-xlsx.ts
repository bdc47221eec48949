import { Type } from 'typebox';
import type { RecordedCell } from '../../dataset/recorded-row.ts';
import { outputDataset, url } from '../../schema/declare.ts';
import { RowanError } from '../../util/error.ts';
import { Path } from '../../value/path.ts';
import { runOnCreation } from '../parameter.ts';
import { workerProcedure } from '../procedure-type.ts';
import { importResult } from './import-result.ts';

/** Reads the sheets of a workbook, a row for each of theirs. */
export const importXlsx = workerProcedure({
  name: 'import.xlsx',
  aliases: ['experimental.import.xlsx'],
  summary: 'Reads the sheets of an Excel workbook (.xlsx), a row for each row of a sheet.',
  parameters: Type.Object({
    dataFileUrl: url({ description: 'the workbook' }),
    output: Type.Optional(
      outputDataset({
        description: 'dataset to make',
        defaultType: 'sparse.mutable',
        aliases: ['outputDataset'],
      }),
    ),
    sheets: Type.Optional(
      Type.Array(Type.String(), { description: 'names of the sheets to read; default: all' }),
    ),
    ...runOnCreation,
  }),
  async run(context, { dataFileUrl, output: spec, sheets: wanted }) {
    const progress = context.steps([{ name: 'iterating', type: 'percentile' }], { topLevel: true });
    progress.next();
    const { noWorkbook, readWorkbook } = await import('../../format/xlsx/workbook.ts');
    const file = await context.files.open(dataFileUrl);
    const source = {
      url: dataFileUrl,
      name: dataFileUrl,
      lastModified: file.lastModified,
      ...(file.plainPath === undefined ? {} : { localPath: file.plainPath }),
      stream: () => file.stream(),
    };
    const names = wanted === undefined ? undefined : new Set(wanted);
    const workbook = await readWorkbook(source, names, () => context.checkCancelled()).catch(
      (thrown: unknown) => {
        const isOurs = thrown instanceof RowanError && !/^cannot read archive/.test(thrown.message);
        throw isOurs ? thrown : noWorkbook(source, (thrown as Error).message);
      },
    );
    progress.update(0.5);
    const output = context.output(spec, 'sparse.mutable');
    for (const { name, rows } of workbook.sheets) {
      const width = String(rows.reduce((most, { number }) => Math.max(most, number), 0)).length;
      for (const { number, cells } of rows) {
        const recorded = cells.map(
          ([column, atom]): RecordedCell => [Path.of(column), atom, workbook.modified],
        );
        const row = `${name}:${String(number).padStart(width, '0')}`;
        output.record({ name: Path.of(row), cells: recorded });
      }
    }
    output.commit();
    progress.finish();
    return importResult(output, spec);
  },
});
