// Queries whose rows are more than another system sends: a sample of them, which it draws.

import type { PreparedQuery } from '../../exec/query.ts';
import { SumsRefused, sumAt } from '../../learn/sums/sums.ts';
import { mapPlan } from '../../plan/map-plan.ts';
import type { InputQuery } from '../../schema/declare.ts';
import type { ProcedureContext } from '../procedure-type.ts';
import { type QuerySums, type SampleReport, sumsOfQuery } from './query-sums.ts';

/** What the details of a run tell of data that is a sample. */
export function readingOf({ sample }: { readonly sample?: SampleReport | undefined }) {
  return sample === undefined ? {} : { reading: sample };
}

/** A share of the rows that one answer may have, so that a sample, whose size is random, fits. */
const SAMPLE_FILL = 0.9;

export interface SampledQuery {
  readonly prepared: PreparedQuery;
  /** absent: all rows */
  readonly sample: SampleReport | undefined;
}

/**
 * A query that gives all its rows, or, where another system has more than it sends, a sample of
 * those that the query selects.
 * @param rowCountMax fewer rows are wanted
 */
export function sampledQuery(
  context: ProcedureContext,
  query: InputQuery,
  seed: number,
  rowCountMax = Number.POSITIVE_INFINITY,
): SampledQuery {
  const all = sumsOfQuery(context, query, { row: 'features' }) ?? sumsOfQuery(context, query, {});
  const dataset = all?.report.dataset;
  const pushing = dataset && context.namespace.dataset(dataset).remote?.pushing;
  if (all === undefined || !pushing || dataset === undefined)
    return { prepared: context.query(query), sample: undefined };
  const limit = Math.min(pushing.rowCountMax, rowCountMax);
  const of = countOf(all);
  if (of <= limit) return { prepared: context.query(query), sample: undefined };
  const share = (SAMPLE_FILL * limit) / of;
  const asked = pushing.sample(share, seed);
  const prepared = context.query(query, (plan) => ({
    ...plan,
    root: mapPlan(plan.root, (node) =>
      node.kind === 'scan' && node.dataset === dataset
        ? { kind: 'ask', dataset, columns: 'all', asked, isStored: true }
        : node,
    ),
  }));
  context.log(
    `training on a sample of about ${Math.round(share * of)} of ${of} rows of ${dataset}`,
  );
  return { prepared, sample: { way: 'sample', dataset, of, share, seed } };
}

/** Rows of a query, or those of the whole table where its condition is tested here. */
function countOf(all: QuerySums): number {
  try {
    const [group] = all.groups({ keys: [], values: [{ kind: 'rows' }] });
    return group === undefined ? 0 : sumAt(group, 0);
  } catch (thrown) {
    if (!(thrown instanceof SumsRefused)) throw thrown;
    return all.tableRowCount;
  }
}
