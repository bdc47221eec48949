// What imports from other databases do with each row.
import { nameOfValue } from '../../exec/general/operator/project.ts';
import { compileExpression, compileSelect } from '../../exec/prepared-row.ts';
import type { ScopeFunctions } from '../../plan/scope/scope.ts';
import type { RemoteRequest, WireRow } from '../../remote/message.ts';
import { PathLists, rowOf } from '../../remote/remote-relation.ts';
import { failure, RowanError } from '../../util/error.ts';
import type { Path } from '../../value/path.ts';
import { NULL_VALUE, type Row, Scalar } from '../../value/value.ts';
import type { OutputDataset, ProcedureContext } from '../procedure-type.ts';

const ROWS_PER_LOOK = 1000;

export interface RemoteImport {
  readonly request: RemoteRequest;
  readonly output: OutputDataset;
  readonly select: string;
  readonly where: string;
  /** absent: `nameOf` */
  readonly named?: string | undefined;
  readonly functions: ScopeFunctions;
  /** The value of one of the functions. */
  call(name: string, wire: WireRow, index: number): Scalar;
  nameOf?(row: Row, index: number): Path;
  /** The timestamp of the cells; absent: that of the row as it came. */
  tsOf?(row: Row): number;
  /** Called for a row that cannot be read; absent: it fails the import. */
  onFaulty?(): void;
}

/** Records the rows that the other database sends. @returns how many came */
export function recordRemoteRows(context: ProcedureContext, given: RemoteImport): number {
  const { namespace, scope } = context;
  const options = { namespace, scope, functions: given.functions };
  const select = compileSelect(given.select, options);
  const where = compileExpression(given.where, options);
  const named = given.named === undefined ? undefined : compileExpression(given.named, options);
  const progress = context.steps([{ name: 'iterating', type: 'counter' }], { topLevel: true });
  progress.next();
  const paths = new PathLists();
  let count = 0;
  for (const wire of context.remote.rows(given.request)) {
    const index = count++;
    if (count % ROWS_PER_LOOK === 0) {
      context.checkCancelled();
      progress.update(count);
    }
    if (wire.error !== undefined) {
      if (given.onFaulty === undefined) throw RowanError.fromBody(wire.error);
      given.onFaulty();
      continue;
    }
    const bare = rowOf(wire, paths.of(wire.paths));
    const ts = given.tsOf?.(bare);
    const input = ts === undefined ? bare : rowOf({ ...wire, ts }, paths.of(wire.paths));
    const about = {
      call: (name: string) => given.call(name, wire, index) ?? NULL_VALUE,
      ...(scope === undefined ? {} : { scope }),
    };
    if (!where.test(input, about)) continue;
    const name =
      named === undefined
        ? (given.nameOf as NonNullable<RemoteImport['nameOf']>)(input, index)
        : nameOf(named.evaluate(input, about));
    given.output.recordRow(name, select.apply(input, about));
  }
  progress.finish();
  return count;
}

function nameOf(value: unknown): Path {
  if (value instanceof Scalar) return nameOfValue(value);
  throw failure('SQL_EXECUTION', 'the expression named must give one value, not a row');
}
