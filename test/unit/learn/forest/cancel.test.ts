import { expect, test } from 'vitest';
import { buildMatrix } from '../../../../src/learn/feature/matrix.ts';
import { fitForest } from '../../../../src/learn/forest/forest.ts';
import { Random } from '../../../../src/learn/random.ts';
import { type FitContext, serialContext } from '../../../../src/learn/workspace.ts';
import { FOREST_DEFAULTS, numbers, testArenas, testContext } from '../support.ts';

const arenas = testArenas();
const { workspace } = testContext(arenas);

const ROW_COUNT = 1_000_000;
const random = Random.of(5);
const values = () => Array.from({ length: ROW_COUNT }, () => random.uniform());
const sources = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => numbers(name, values()));
const labels = Uint8Array.from({ length: ROW_COUNT }, () => (random.uniform() < 0.5 ? 0 : 1));
const targets = { rowCount: ROW_COUNT, targets: Float64Array.from(labels) };

/** A context that is cancelled at that check, and how often it was asked. */
function cancelledAt(check: number): FitContext & { readonly checkCount: number } {
  const context = {
    ...serialContext(workspace),
    checkCount: 0,
    checkCancelled() {
      if (++context.checkCount === check) throw new Error('cancelled');
    },
    parallel: {
      threadCount: 1,
      run: ((job, args, unitCount) =>
        Array.from({ length: unitCount }, (_, unit) =>
          job.execute(args, unit, context),
        )) as FitContext['parallel']['run'],
    },
  };
  return context;
}

test('one large tree is left in the middle, and what it took is given back', () => {
  const matrix = buildMatrix(workspace, sources, targets, { coding: 'rank', arena: 0 });
  const options = {
    ...FOREST_DEFAULTS,
    featureVectorSamplings: 1,
    featureSamplings: 1,
    featureSamplingProp: 1,
  };
  const before = arenas.usedBytes;
  const whole = cancelledAt(Number.POSITIVE_INFINITY);
  const model = fitForest(whole, { matrix, labels }, options);
  expect(model.trees).toHaveLength(1);
  expect(whole.checkCount).toBeGreaterThan(5);
  for (const { span } of model.trees) arenas.free(span);
  for (const check of [1, 2, whole.checkCount >> 1]) {
    const context = cancelledAt(check);
    expect(() => fitForest(context, { matrix, labels }, options)).toThrow('cancelled');
    expect(context.checkCount).toBe(check);
    expect(arenas.usedBytes).toBe(before);
  }
  arenas.free(matrix.span);
});

test('features are described and coded one by one', () => {
  const before = arenas.usedBytes;
  for (const check of [1, 4, sources.length + 1, 2 * sources.length]) {
    const context = cancelledAt(check);
    const options = { coding: 'rank', arena: 0 } as const;
    expect(() => buildMatrix(workspace, sources, targets, options, context)).toThrow('cancelled');
    expect(context.checkCount).toBe(check);
    expect(arenas.usedBytes).toBe(before);
  }
});

test.each(['rank', 'each'] as const)(
  'a column of many categories is left at any check, coded %s',
  (coding) => {
    const rowCount = 60_000;
    const entries = Array.from({ length: rowCount }, (_, row) => `name ${(row * 7919) % rowCount}`);
    const codes = Uint32Array.from(entries, (_, row) => row + 1);
    const sources = [{ kind: 'codes', name: 'name', pieces: [codes], entries }] as const;
    const rows = { rowCount, targets: Float64Array.from(labels.subarray(0, rowCount)) };
    const build = (context: FitContext) =>
      buildMatrix(workspace, sources, rows, { coding, arena: 0 }, context);
    const before = arenas.usedBytes;
    const whole = cancelledAt(Number.POSITIVE_INFINITY);
    arenas.free(build(whole).span);
    // They are sorted, which compares each more than ten times, and looks every few thousand times.
    expect(whole.checkCount).toBeGreaterThan((10 * rowCount) / 16_384);
    for (const check of [3, 10, 30]) {
      const context = cancelledAt(check);
      expect(() => build(context)).toThrow('cancelled');
      expect(context.checkCount).toBe(check);
      expect(arenas.usedBytes).toBe(before);
    }
  },
);
