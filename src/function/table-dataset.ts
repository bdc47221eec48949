// Parameters that are tables: a dataset, or a text as it may stand in FROM.
import { readQuery } from '../exec/query.ts';

/** The dataset that a table is; undefined when it is more than one dataset as it stands. */
export function tableDataset(
  table: string | { readonly id?: string | undefined },
): string | undefined {
  if (typeof table !== 'string') return table.id;
  const { from } = readQuery(`SELECT * FROM ${table}`);
  return from?.kind === 'dataset-table' ? from.name : undefined;
}
