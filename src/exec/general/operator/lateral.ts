// LATERAL: the rows of the right side are computed for each row of the left.
import type { LateralNode } from '../../../plan/plan.ts';
import { type CanonicalKey, keyOfTuple } from '../../../value/canonical-key.ts';
import type { Value } from '../../../value/value.ts';
import { latestVersions } from '../call/lookup.ts';
import type { Compiler } from '../compiler.ts';
import { Frame } from '../frame.ts';
import type { ExecRow } from '../row.ts';
import { pairMaker } from './join.ts';
import type { RowSource } from './source.ts';

/** Rows of the right side that are kept for rows of the left that read the same. */
const REMEMBERED_ROW_COUNT_MAX = 1_000_000;

export function compileLateral(
  node: LateralNode,
  left: RowSource,
  right: RowSource,
  compiler: Compiler,
): RowSource {
  const { runtime } = compiler;
  const args = node.args.map((arg) => compiler.evaluator(arg));
  const matches = node.condition === undefined ? undefined : compiler.predicate(node.condition);
  const makeRow = pairMaker(node);
  return function* () {
    const frame = new Frame();
    const remembered = new Map<CanonicalKey, readonly ExecRow[]>();
    let rowCount = 0;
    const rowsFor = (values: readonly Value[]): readonly ExecRow[] => {
      const key = keyOfTuple(values);
      const known = remembered.get(key);
      if (known !== undefined) return known;
      runtime.scope.checkCancelled();
      runtime.outer[node.subquery] = values;
      const rows = [...right()];
      rowCount += rows.length + 1;
      if (rowCount <= REMEMBERED_ROW_COUNT_MAX) remembered.set(key, rows);
      return rows;
    };
    for (const leftRow of left()) {
      frame.at(leftRow);
      let matched = false;
      for (const rightRow of rowsFor(args.map((arg) => latestVersions(arg(frame))))) {
        const pair = makeRow(leftRow, rightRow);
        if (matches !== undefined && !matches(frame.at(pair))) continue;
        matched = true;
        yield pair;
      }
      if (!matched && node.joinKind === 'left') yield makeRow(leftRow, undefined);
    }
  };
}
