// Parameters that are tables: a dataset, or a text as it may stand in FROM.
import { readQuery } from '../exec/query.ts';

/** The dataset that a table is; undefined when it is more than one dataset as it stands. */
export function tableDataset(
  table: string | { readonly id?: string | undefined },
): string | undefined {
  if (typeof table !== 'string') return table.id;
  const query = readQuery(`SELECT * FROM ${table}`);
  const from = query.kind === 'query' ? query.from : undefined;
  return from?.kind === 'dataset-table' ? from.name : undefined;
}
