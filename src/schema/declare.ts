// Helpers that declare parameters which many types share. The keyword `rowan` marks what the service
// resolves: references to entities, queries, outputs and URLs.
import { type Static, type TObject, type TProperties, type TUnsafe, Type } from 'typebox';

const referenceMembers = {
  id: Type.Optional(Type.String({ description: 'id of the entity' })),
  type: Type.Optional(Type.String({ description: 'type; absent for an existing entity' })),
  params: Type.Optional(
    Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      description: 'parameters of the type',
      aliases: ['parameters'],
    }),
  ),
  persistent: Type.Optional(Type.Boolean({ description: 'whether it comes back after a restart' })),
  deterministic: Type.Optional(
    Type.Boolean({ description: 'whether constant calls may be evaluated once a query' }),
  ),
};

/** The document that creates an entity, or that refers to one by its `id`. */
export const ENTITY_CONFIG = Type.Object(referenceMembers);

/** A reference to an entity, or the configuration of a new one. */
export type EntityReference = Static<typeof ENTITY_CONFIG>;

export type DatasetReference = string | EntityReference;

/** `null` and absent both mean that nothing was asked for. */
export type OutputDatasetSpec = string | EntityReference | null | undefined;

/** A SELECT statement, or its clauses. */
export type InputQuery = string | InputQueryClauses;

export interface InputQueryClauses {
  readonly select?: string;
  readonly named?: string;
  readonly from?: string | EntityReference;
  readonly when?: string;
  readonly where?: string;
  readonly groupBy?: string;
  readonly having?: string;
  readonly orderBy?: string;
  readonly offset?: number;
  readonly limit?: number;
}

export interface ParameterOptions {
  readonly description: string;
  readonly default?: unknown;
  /** other names that mean the same */
  readonly aliases?: readonly string[];
  /** true: the type itself refuses to do without it; see `SchemaData` */
  readonly isNeeded?: boolean;
}

/** An existing dataset by its id, or a configuration of one that is created on the spot. */
export function datasetReference(options: ParameterOptions) {
  return Type.Unsafe<DatasetReference>({
    ...options,
    rowan: 'dataset',
    anyOf: [Type.String(), ENTITY_CONFIG],
  });
}

/** A dataset, or a text as it may stand in FROM. */
export function tableReference(options: ParameterOptions) {
  return Type.Unsafe<DatasetReference>({ ...datasetReference(options), rowan: 'table' });
}

/** A function or procedure: an existing one by `id`, or a configuration. */
export function entityReference(
  kind: 'function' | 'procedure',
  options: ParameterOptions,
): TUnsafe<EntityReference>;
export function entityReference<Members extends TProperties>(
  kind: 'function' | 'procedure',
  options: ParameterOptions,
  members: Members,
): TUnsafe<EntityReference & Static<TObject<Members>>>;
export function entityReference(
  kind: 'function' | 'procedure',
  options: ParameterOptions,
  members: TProperties = {},
) {
  return Type.Unsafe<EntityReference>({
    ...options,
    ...Type.Object({ ...referenceMembers, ...members }),
    rowan: kind,
  });
}

/** A dataset that a procedure makes. `defaultType` is its type when none is given. */
export function outputDataset(options: ParameterOptions & { readonly defaultType: string }) {
  return Type.Unsafe<OutputDatasetSpec>({
    ...options,
    rowan: 'output-dataset',
    anyOf: [Type.String(), Type.Null(), ENTITY_CONFIG],
  });
}

/** A SELECT statement, or an object of its clauses; `from` may be a dataset configuration. */
export function inputQuery(options: ParameterOptions) {
  const text = (description: string) => Type.Optional(Type.String({ description }));
  return Type.Unsafe<InputQuery>({
    ...options,
    rowan: 'input-query',
    anyOf: [
      Type.String(),
      Type.Object({
        select: text('SELECT list, default *'),
        named: text('row name expression'),
        from: Type.Optional(tableReference({ description: 'dataset, or FROM text' })),
        when: text('condition on points'),
        where: text('condition on rows'),
        groupBy: text('grouping expressions'),
        having: text('condition on groups'),
        orderBy: text('ordering'),
        offset: Type.Optional(Type.Integer({ description: 'rows to skip', minimum: 0 })),
        limit: Type.Optional(Type.Integer({ description: 'rows to keep; -1: all', minimum: -1 })),
      }),
    ],
  });
}

/** A file or other resource named by a URL with its scheme. */
export function url(options: ParameterOptions) {
  return Type.String({ ...options, rowan: 'url' });
}

/** One of several texts. */
export function choice<const Values extends readonly string[]>(
  values: Values,
  options: ParameterOptions,
) {
  return Type.Unsafe<Values[number]>({ ...options, type: 'string', enum: [...values] });
}
