// Reference pages of entity types, from the schemas that check their parameters.
import type { EntityKind, EntityType } from '../../dataset/entity-type.ts';
import { type SchemaData, schemaData } from '../../schema/schema-data.ts';
import type { TypeRegistry } from '../../service/entity/type-registry.ts';
import { escapeHtml } from '../../util/html.ts';
import { exampleRequests } from './example/type-examples.ts';
import { code, type PageContent, prose, renderTable } from './page.ts';
import { manualParagraphs, trainerManual } from './trainer-manual.ts';

export const DOCUMENTED_KINDS = ['dataset', 'function', 'procedure', 'plugin'] as const;

/** What references and the like are called in parameter tables. */
const ROLE_NAMES: Readonly<Record<string, string>> = {
  dataset: 'dataset: id or configuration',
  table: 'dataset or FROM text',
  function: 'function: id or configuration',
  procedure: 'procedure configuration',
  'output-dataset': 'output dataset: id or configuration',
  'output-function': 'output function: configuration',
  'input-query': 'SELECT statement or its clauses',
  url: 'URL',
};

/** Types of a kind, aliases left out. */
export function documentedTypes(
  types: TypeRegistry,
  kind: EntityKind,
  hidesInternal: boolean,
): EntityType[] {
  const found = new Set(types.names(kind).map((name) => types.get(kind, name)));
  return [...found].filter((type) => !(hidesInternal && isInternal(type)));
}

function isInternal({ flags }: EntityType): boolean {
  return flags?.includes('INTERNAL_ENTITY') === true;
}

export function typePath({ kind, name }: EntityType): string {
  return `/reference/${kind}s/${encodeURIComponent(name)}.html`;
}

export function typePage(type: EntityType): PageContent {
  const aliases = (type.aliases ?? []).map(code).join(', ');
  return {
    title: `${type.name} (${type.kind})`,
    body: `<h1>${code(type.name)}</h1>
<p class="dim">${type.kind} type${aliases === '' ? '' : `, also named ${aliases}`}</p>
<p>${prose(type.summary)}</p>
${manualText(type)}
<h2>Parameters</h2>
${parameterTable(type, '../..') || '<p>None.</p>'}
${exampleText(type)}`,
  };
}

/** What a trainer or the function of a model is for, and how it works. */
function manualText({ kind, name }: EntityType): string {
  const manual = trainerManual(kind, name);
  if (manual === undefined) return '';
  const paragraphs = manualParagraphs(manual).map(
    ([head, text]) => `<p><strong>${head}.</strong> ${prose(text)}</p>`,
  );
  return paragraphs.join('\n');
}

/** Requests that can be sent as they stand, one after the other. */
function exampleText(type: EntityType): string {
  const requests = exampleRequests(type);
  if (requests.length === 0) return '';
  const blocks = requests.map(({ verb, path, body }) => {
    const text = `${verb} ${path}\n${JSON.stringify(body, null, 2)}`;
    return `<pre><code class="language-json">${escapeHtml(text)}</code></pre>`;
  });
  return `<h2>Creating one</h2>\n${blocks.join('\n')}`;
}

/**
 * A row for each parameter, members of objects below their object.
 * @param root what stands before the path of a page of the documentation in links
 */
export function parameterTable({ parameters }: EntityType, root: string): string {
  const rows = parameterFacts(parameters).map(({ path, type, isRequired, fallback, member }) => [
    code(path),
    escapeHtml(type),
    isRequired ? 'required' : fallback === undefined ? '' : code(fallback),
    meaning(member, root),
  ]);
  return renderTable(['Parameter', 'Type', 'Default', 'Meaning'], rows);
}

/** What a table says of a parameter. */
export interface ParameterFacts {
  /** below the parameters */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** the default as JSON */
  readonly fallback: string | undefined;
  readonly member: SchemaData;
}

/** All parameters of a type, members of objects below their object. */
export function parameterFacts(parameters: EntityType['parameters']): ParameterFacts[] {
  return factsBelow(schemaData(parameters), '');
}

function factsBelow(schema: SchemaData, prefix: string): ParameterFacts[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const fallback = member.default;
    const own: ParameterFacts = {
      path: prefix + name,
      type: typeText(member),
      isRequired: member.isNeeded === true || (required.has(name) && fallback === undefined),
      fallback: fallback === undefined ? undefined : JSON.stringify(fallback),
      member,
    };
    const isOwn = member.rowan === undefined && member.properties !== undefined;
    return isOwn ? [own, ...factsBelow(member, `${prefix}${name}.`)] : [own];
  });
}

function meaning({ description = '', page }: SchemaData, root: string): string {
  const text = prose(description);
  return page === undefined ? text : `${text} (<a href="${escapeHtml(root + page)}">see</a>)`;
}

/** A schema in a few words. */
function typeText(schema: SchemaData): string {
  if (schema.rowan !== undefined) return ROLE_NAMES[schema.rowan] ?? schema.rowan;
  if (schema.enum !== undefined)
    return schema.enum.map((value) => JSON.stringify(value)).join(', ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const parts = schema.anyOf;
  if (parts !== undefined) return [...new Set(parts.map(typeText))].join(' or ');
  if (schema.type === 'array') {
    const { items } = schema;
    const isSimple = items !== undefined && !Array.isArray(items);
    return isSimple ? `array of ${typeText(items as SchemaData)}` : 'array';
  }
  return rangeText(schema);
}

function rangeText({
  type,
  minimum,
  exclusiveMinimum,
  maximum,
  exclusiveMaximum,
}: SchemaData): string {
  const above = exclusiveMinimum === undefined ? '' : `, above ${String(exclusiveMinimum)}`;
  const low = minimum === undefined ? above : `, at least ${String(minimum)}`;
  const below = exclusiveMaximum === undefined ? '' : `, below ${String(exclusiveMaximum)}`;
  const high = maximum === undefined ? below : `, at most ${String(maximum)}`;
  return `${type ?? 'any JSON'}${low}${high}`;
}
