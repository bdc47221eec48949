// Imported models: Shapley values as the shap package has them, and tests of numbers that are
// rounded to floats. The files are made by test/reference/onnx-models.py.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { compileExplainer } from '../../../../src/learn/explain/explain.ts';
import { modelEnsembles } from '../../../../src/learn/model/classifier.ts';
import { importOnnx } from '../../../../src/learn/onnx/import.ts';
import {
  firstRoundedAbove,
  firstRoundedTo,
  nextUp,
} from '../../../../src/learn/onnx/import-trees.ts';
import { decodeOnnx } from '../../../../src/learn/onnx/model.ts';
import { spansOf } from '../../../../src/learn/tree/ensemble.ts';
import { NEVER_CANCELLED } from '../../../../src/learn/workspace.ts';
import { testArenas, testContext } from '../support.ts';

const FOLDER = new URL('../../../reference/onnx-models/', import.meta.url);
const arenas = testArenas();
const context = testContext(arenas);
afterAll(() => expect(arenas.usedBytes).toBe(0));

interface Expected {
  readonly rows: readonly (readonly number[])[];
  readonly shap?: { readonly base: number; readonly values: readonly (readonly number[])[] };
}

const EXPECTED: Readonly<Record<string, Expected>> = JSON.parse(
  readFileSync(new URL('expected.json', FOLDER), 'utf8'),
);

test.each(Object.keys(EXPECTED).filter((name) => EXPECTED[name]?.shap !== undefined))(
  'Shapley values of %s are those of the shap package',
  (name) => {
    const { rows, shap } = EXPECTED[name] as Required<Expected>;
    const bytes = new Uint8Array(readFileSync(new URL(`${name}.onnx`, FOLDER)));
    const { workspace } = context;
    // Names in the order of the columns: the features of a model are in the order of their names.
    const featureNames = (rows[0] as readonly number[]).map((_, i) => `x${i}`);
    const options = { featureNames };
    const model = importOnnx(workspace, decodeOnnx(bytes), options, 0, NEVER_CANCELLED);
    expect(model.features.map((feature) => feature.name)).toEqual(featureNames);
    const explainer = compileExplainer(
      workspace,
      model.algorithm,
      { features: model.features, width: 1, isRegression: model.mode === 'regression' },
      { method: 'interventional', background: rows.slice(6) },
      NEVER_CANCELLED,
    );
    for (const [row, values] of shap.values.entries()) {
      const contributions = new Float64Array(featureNames.length);
      const bias = explainer(rows[row] as readonly number[], 1, contributions);
      const scale = Math.max(1, Math.abs(shap.base));
      expect(bias / scale).toBeCloseTo(shap.base / scale, 5);
      for (const [feature, value] of values.entries()) {
        expect((contributions[feature] as number) / scale).toBeCloseTo(value / scale, 5);
      }
    }
    for (const span of modelEnsembles(model.algorithm).flatMap(spansOf)) arenas.free(span);
  },
);

test('boundaries part doubles as rounding them to floats does', () => {
  const limits = fc.oneof(
    fc.double({ noNaN: true, min: -1e30, max: 1e30 }),
    fc.float({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(0, 0.1, 1, -1, 2 ** -149, 16_777_217),
  );
  fc.assert(
    fc.property(limits, limits, (limit, other) => {
      const above = firstRoundedAbove(limit);
      const from = firstRoundedTo(limit);
      for (const x of [limit, other, above, from, nextUp(limit), -nextUp(-above), -nextUp(-from)]) {
        expect(x < above).toBe(Math.fround(x) <= limit);
        expect(x < from).toBe(Math.fround(x) < limit);
      }
    }),
    { numRuns: 200 },
  );
});
