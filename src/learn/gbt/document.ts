// What the details of a classifier show of gradient-boosted trees.
import { boundariesOf, type Feature } from '../feature/feature.ts';
import type { Workspace } from '../workspace.ts';
import type { GbtModel } from './model.ts';
import { readTree, type TreeNodes } from './nodes.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** `{type, params}`: trees by round, one a score in each. */
export function gbtDocument(
  workspace: Workspace,
  { features }: { readonly features: readonly Feature[] },
  model: GbtModel,
): JsonObject {
  const { objective, baseScore, learningRate, bestIteration, ensemble } = model;
  const perRound = ensemble.width;
  const trees: JsonObject[][] = [];
  for (const index of ensemble.trees.keys()) {
    const nodes = readTree(workspace, ensemble, index);
    const gains = model.gains[index] as Float32Array;
    if (index % perRound === 0) trees.push([]);
    trees.at(-1)?.push(nodeDocument(features, nodes, gains, 0));
  }
  return { type: 'GBT', params: { objective, baseScore, learningRate, trees, bestIteration } };
}

function nodeDocument(
  features: readonly Feature[],
  nodes: TreeNodes,
  gains: Float32Array,
  node: number,
): JsonObject {
  const left = nodes.left(node);
  const cover = nodes.cover(node);
  if (left === node) return { value: nodes.value(node), cover };
  const feature = features[nodes.feature(node)] as Feature;
  const goesLeft = nodes.codesLeft(node);
  const test =
    feature.kind === 'numeric'
      ? { threshold: boundariesOf(feature, nodes.part(node))[lastCode(goesLeft) - 1] ?? null }
      : {
          categories:
            feature.kind === 'categorical'
              ? feature.categories.filter((_, index) => goesLeft(feature.buckets[index] as number))
              : [],
        };
  return {
    feature: feature.name,
    ...test,
    defaultLeft: goesLeft(0),
    gain: gains[node],
    cover,
    left: nodeDocument(features, nodes, gains, left),
    right: nodeDocument(features, nodes, gains, left + 1),
  };
}

/** The highest code of a number that goes left. */
function lastCode(goesLeft: (code: number) => boolean): number {
  let last = 0;
  for (let code = 1; code < 256; code++) if (goesLeft(code)) last = code;
  return last;
}
