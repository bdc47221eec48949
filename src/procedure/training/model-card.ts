// Model cards: what a model is, from what and how it was made. No data rows.
import { queryTextOf } from '../../dataset/parameter.ts';
import { workspaceOf } from '../../exec/thread-memory.ts';
import type { SourceColumn } from '../../learn/feature/source.ts';
import { type Points, pointColumns } from '../../learn/points.ts';
import { datasetsReadBy, inputsOf } from '../../plan/map-plan.ts';
import type { PlanNode, QueryPlan } from '../../plan/plan.ts';
import type { InputQuery } from '../../schema/declare.ts';
import { every } from '../../util/every.ts';
import { packageVersion } from '../../util/package-file.ts';
import { RowTimestampsView } from '../../value/column/row-timestamps.ts';
import type { Snapshot } from '../../value/column/snapshot.ts';
import { float64Of } from '../../value/column/span-view.ts';
import { laterOf, MINUS_INFINITY, printTimestamp } from '../../value/timestamp.ts';
import type { ProcedureContext } from '../procedure-type.ts';
import { type FeatureSummary, summarizeFeature } from './feature-summary.ts';

export type ModelCard = Readonly<Record<string, unknown>>;

/** Columns that are made when they are looked at. */
export interface CardFeatures {
  readonly length: number;
  at(index: number): SourceColumn | undefined;
}

/** What the training itself knows. */
export interface CardFacts {
  /** type of the function that the model makes */
  readonly kind: string;
  readonly mode?: string;
  readonly algorithm: string;
  /** everything that was chosen, with defaults */
  readonly configuration: unknown;
  readonly trainingQuery: InputQuery;
  readonly rows: { readonly used: number; readonly skippedNullLabel?: number };
  /** each label with the weight of its rows, as they were given */
  readonly labelDistribution?: readonly (readonly [unknown, number])[];
  readonly features: CardFeatures | readonly FeatureSummary[];
  /** true: names and types of features only */
  readonly redactFeatureStats: boolean;
  /** null: nothing is drawn */
  readonly randomSeed: number | null;
}

/** A card that lists more would be longer than most models. */
const FEATURE_COUNT_MAX = 1000;
/** Rows between two looks at the cancel flag. */
const ROWS_PER_CHECK = 65_536;

/** @throws CANCELLED */
export function makeModelCard(context: ProcedureContext, facts: CardFacts): ModelCard {
  const { features, redactFeatureStats, rows } = facts;
  const check = () => context.checkCancelled();
  const summaries: FeatureSummary[] = [];
  for (let i = 0; i < Math.min(features.length, FEATURE_COUNT_MAX); i++) {
    const feature = features.at(i) as SourceColumn | FeatureSummary;
    summaries.push('kind' in feature ? summarizeFeature(feature, rows.used, check) : feature);
  }
  return {
    kind: facts.kind,
    mode: facts.mode ?? null,
    algorithm: facts.algorithm,
    configuration: facts.configuration,
    trainingQuery: queryTextOf(facts.trainingQuery),
    datasets: datasetsOf(context.query(facts.trainingQuery).plan, context),
    rows: { used: rows.used, skippedNullLabel: rows.skippedNullLabel ?? 0 },
    labelDistribution: facts.labelDistribution ?? [],
    featureCount: features.length,
    features: redactFeatureStats ? summaries.map(redacted) : summaries,
    metrics: null,
    randomSeed: facts.randomSeed,
    ...madeBy(context),
  };
}

/** What is known of a model that another program trained. */
export interface ImportFacts {
  readonly mode: string;
  readonly algorithm: string;
  /** the file it was read from */
  readonly source: string;
  readonly features: readonly Pick<FeatureSummary, 'name' | 'type'>[];
}

/** The card of an imported model: how it was trained is not known here. */
export function makeImportCard(context: ProcedureContext, facts: ImportFacts): ModelCard {
  const { algorithm, features, mode, source } = facts;
  return {
    kind: 'classifier',
    mode,
    algorithm,
    configuration: null,
    trainingQuery: null,
    importedFrom: source,
    datasets: [],
    rows: null,
    labelDistribution: [],
    featureCount: features.length,
    features: features.slice(0, FEATURE_COUNT_MAX),
    metrics: null,
    randomSeed: null,
    ...madeBy(context),
  };
}

function madeBy({ procedureId, runId, startedAt }: ProcedureContext) {
  const now = Date.now() / 1000;
  return {
    createdAt: printTimestamp(now),
    durationSecs: Math.max(0, now - startedAt),
    rowanVersion: packageVersion(),
    parentProcedure: procedureId,
    runId,
  };
}

function redacted({ name, type }: FeatureSummary): Pick<FeatureSummary, 'name' | 'type'> {
  return { name, type };
}

/** Parameters that say where things come from and go to, and the seed, which cards tell by itself. */
const NO_OPTIONS: ReadonlySet<string> = new Set([
  ...['trainingData', 'modelFileUrl', 'statsTableFileUrl', 'distTableFileUrl', 'functionName'],
  ...['outputDataset', 'centroidsDataset', 'rowOutputDataset', 'columnOutputDataset'],
  ...['redactFeatureStats', 'randomSeed', 'runOnCreation'],
]);

/** The parameters of a training that shape its model. */
export function trainingOptions(params: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(params).filter(([name]) => !NO_OPTIONS.has(name)));
}

/** Coordinates of points as columns of features. */
export function pointFeatures(
  context: ProcedureContext,
  points: Points,
  names: readonly string[],
): SourceColumn[] {
  return pointColumns(workspaceOf(context.arenas), points).map((values, j) => ({
    kind: 'numbers',
    name: names[j] as string,
    pieces: [{ values }],
  }));
}

interface CardDataset {
  readonly id: string;
  readonly rowCount: number;
  /** ISO 8601; null where no row has one */
  readonly latestTimestamp: string | null;
}

/** The datasets that a query reads, each once, in the order of their names. */
function datasetsOf({ root, subqueries }: QueryPlan, context: ProcedureContext): CardDataset[] {
  const ids = new Set<string>();
  const pending: PlanNode[] = [root, ...subqueries];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const id of datasetsReadBy(node)) ids.add(id);
    pending.push(...inputsOf(node));
  }
  return [...ids].sort().map((id) => {
    const { rowCount, snapshot } = context.namespace.dataset(id);
    const latest = snapshot === undefined ? undefined : latestOf(snapshot, context);
    return { id, rowCount, latestTimestamp: latest === undefined ? null : printTimestamp(latest) };
  });
}

/** Seconds; undefined without rows. */
function latestOf(snapshot: Snapshot, { arenas, checkCancelled }: ProcedureContext) {
  if (snapshot.rowCount === 0) return undefined;
  if (snapshot.layout === 'sparse') {
    const { timestamps } = snapshot;
    if ('constant' in timestamps) return timestamps.constant;
    return largest(float64Of(arenas, timestamps.perPoint), checkCancelled);
  }
  const view = new RowTimestampsView(snapshot.timestamps, arenas);
  if (view.constant !== undefined) return view.constant;
  const { timestamps } = snapshot;
  if (timestamps.kind === 'constant') return timestamps.ts;
  return timestamps.chunks
    .map((span) => largest(float64Of(arenas, span), checkCancelled))
    .reduce(laterOf, MINUS_INFINITY);
}

function largest(times: Float64Array, check: () => void): number {
  const look = every(ROWS_PER_CHECK, check);
  let latest = MINUS_INFINITY;
  for (const ts of times) {
    look();
    latest = laterOf(latest, ts);
  }
  return latest;
}
