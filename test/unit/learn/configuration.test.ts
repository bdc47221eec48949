import { describe, expect, test } from 'vitest';
import { nestedEntry, readOptions, resolveEntry } from '../../../src/learn/configuration.ts';
import { decisionTreeLearner } from '../../../src/learn/decision-tree/decision-tree.ts';
import { findLearner, readRecipe, recipeDocument } from '../../../src/learn/learners.ts';

const { options: specs } = decisionTreeLearner;

describe('resolveEntry', () => {
  const document = {
    dt: { type: 'decision_tree', max_depth: 8 },
    trees: { small: { type: 'decision_tree', max_depth: 2 } },
    alias: 'trees.small',
    loop: 'loop',
    empty: {},
  };

  test('follows dots and aliases', () => {
    expect(resolveEntry(document, 'dt').values.max_depth).toBe(8);
    expect(resolveEntry(document, 'trees.small').path).toBe('trees.small');
    expect(resolveEntry(document, 'alias').values.max_depth).toBe(2);
    expect(resolveEntry({ type: 'glz' }, '').type).toBe('glz');
  });

  test.each([
    ['nosuch', 'key nosuch.type not found in config (initial was nosuch.type)'],
    ['empty', 'key empty.type not found in config (initial was empty.type)'],
    ['', 'key type not found in config (initial was type); give algorithm as one of dt, or a'],
    ['constructor', 'key constructor.type not found'],
    ['loop', "configuration entry 'loop' leads through more than 10 aliases"],
  ])('refuses %s', (algorithm, message) => {
    expect(() => resolveEntry(document, algorithm)).toThrow(message);
  });
});

describe('readOptions', () => {
  const read = (values: object, path = 'dt') =>
    readOptions(
      { path, type: 'decision_tree', values: { ...values }, enclosing: [{ max_depth: 3 }] },
      specs,
    );

  test('takes texts for values, inherits, and fills in defaults', () => {
    const { options } = read({ update_alg: 'gentle', random_feature_propn: '0.5', profile: '1' });
    expect(options).toEqual({
      ...{ max_depth: 3, update_alg: 'gentle', random_feature_propn: 0.5, trace: 0 },
      ...{ verbosity: 2, profile: true, validate: false },
    });
  });

  test('takes keys with an underscore for comments', () => {
    expect(read({ _note: 'deep' }).unknownKeys).toEqual([]);
  });

  test('refuses unknown keys, unless at the root', () => {
    const text = 'Unknown key(s) encountered in config: dt.depth dt.alg';
    expect(() => read({ depth: 1, alg: 'x' })).toThrow(text);
    expect(read({ depth: 1, other: { type: 'glz' } }, '').unknownKeys).toEqual(['depth']);
  });

  test.each([
    [{ max_depth: 'deep' }, `'dt.max_depth' must be a whole number from -1: "deep"`],
    [{ max_depth: 1.5 }, `'dt.max_depth' must be a whole number from -1: 1.5`],
    [{ max_depth: null }, `'dt.max_depth' must be a whole number from -1: null`],
    [{ random_feature_propn: 0 }, `must be a number above 0 to 1: 0`],
    [{ update_alg: 'bold' }, `must be one of prob, normal, gentle: "bold"`],
    [{ profile: 'yes' }, `'dt.profile' must be true or false: "yes"`],
    [{ verbosity: 6 }, `'dt.verbosity' must be a whole number from 0 to 5: 6`],
  ])('refuses %j', (values, message) => {
    expect(() => read(values)).toThrow(message);
  });
});

describe('options of gbt', () => {
  const read = (values: object) =>
    readRecipe({ path: 'b', type: 'gbt', values: { ...values }, enclosing: [] }, 'boolean').recipe;

  test('are read under other names, as objects, and as a number or a word', () => {
    const given = { eta: '0.5', monotone_constraints: { age: -1 }, base_score: '1.5' };
    expect(recipeDocument(read(given))).toMatchObject({
      ...{ type: 'gbt', learning_rate: 0.5, monotone_constraints: { age: -1 }, base_score: 1.5 },
      num_rounds: 100,
    });
  });

  test('make a document that reads as the same options', () => {
    const recipe = read({ n_estimators: 7, base_score: 'auto', monotone_constraints: { x: 1 } });
    expect(read(recipeDocument(recipe)).options).toEqual(recipe.options);
  });

  test.each([
    [{ eta: 0 }, `'b.eta' must be a number above 0 to 1: 0`],
    [{ base_score: 'big' }, `'b.base_score' must be a number or auto: "big"`],
    [
      { monotone_constraints: { x: 2 } },
      `'b.monotone_constraints' must be an object of whole numbers from -1 to 1: {"x":2}`,
    ],
  ])('refuse %j', (values, message) => {
    expect(() => read(values)).toThrow(message);
  });
});

test('nested learners see the keys around them', () => {
  const document = {
    bag: { type: 'bagging', max_depth: 4, weak_learner: { type: 'decision_tree' } },
  };
  const inner = nestedEntry(resolveEntry(document, 'bag'));
  expect(inner.path).toBe('bag.weak_learner');
  expect(readOptions(inner, specs).options.max_depth).toBe(4);
  const none = () => nestedEntry(resolveEntry({ bag: { type: 'bagging' } }, 'bag'));
  expect(none).toThrow('key bag.weak_learner.type not found in config');
});

test('learners are found by type', () => {
  const entry = { path: 'x', values: {}, enclosing: [] };
  expect(findLearner({ ...entry, type: 'decision_tree' })).toBe(decisionTreeLearner);
  expect(() => findLearner({ ...entry, type: 'oracle' })).toThrow(
    "unknown classifier type 'oracle' at 'x'; there are bagging, boosted_stumps, ",
  );
});
