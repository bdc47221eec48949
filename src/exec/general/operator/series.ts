// generate_series and range: numbers or timestamps at equal distances.
import { seriesOf } from '../../../builtin/operator/series.ts';
import type { SeriesNode } from '../../../plan/plan.ts';
import { Path } from '../../../value/path.ts';
import { constant, Row, Scalar, type Value } from '../../../value/value.ts';
import type { Compiler } from '../compiler.ts';
import { placeErrors } from '../error-place.ts';
import { Frame } from '../frame.ts';
import { TableRow } from '../row.ts';
import { type RowSource, withCancellation } from './source.ts';

export function compileSeries(node: SeriesNode, compiler: Compiler): RowSource {
  const start = compiler.evaluator(node.start);
  const stop = compiler.evaluator(node.stop);
  const step = node.step === undefined ? undefined : compiler.evaluator(node.step);
  const atomOf = (value: Value | undefined) => (value instanceof Scalar ? value.atom : null);
  const read = placeErrors(
    (frame: Frame) =>
      seriesOf(
        atomOf(start(frame)),
        atomOf(stop(frame)),
        step === undefined ? undefined : atomOf(step(frame)),
        node.inclusive,
      ),
    node.start,
    compiler.runtime.text,
  );
  const names = [node.column];
  const rows = function* () {
    let index = 0;
    for (const atom of read(new Frame())) {
      yield new TableRow(new Path([String(index++)]), new Row(names, [constant(atom)]));
    }
  };
  return () => withCancellation(rows(), compiler.runtime);
}
