// The page of trainers that are no learners, and of the functions of what they make.
import type { EntityType } from '../../dataset/entity-type.ts';
import { FUNCTION_TYPES } from '../../function/built-in.ts';
import { PROCEDURE_TYPES } from '../../procedure/built-in.ts';
import { assert } from '../../util/assert.ts';
import type { ExampleRequest } from './example/example.ts';
import { exampleRequests } from './example/type-examples.ts';
import {
  MODEL_FUNCTION_MANUALS,
  manualParagraphs,
  TRAINER_MANUALS,
  type TrainerManual,
} from './trainer-manual.ts';
import { parameterFacts } from './type-reference.ts';

/** What each trainer is for, how it works, its parameters, its function, and an example, as Markdown. */
export function trainerReference(): string {
  const trainers = Object.entries(TRAINER_MANUALS).map(([name, manual]) =>
    trainerSection(typeNamed(PROCEDURE_TYPES, name), manual),
  );
  const functions = Object.entries(MODEL_FUNCTION_MANUALS).map(([name, manual]) =>
    section(typeNamed(FUNCTION_TYPES, name), manual, ''),
  );
  return `# Trainers and their functions

Procedures that learn from the rows of a query, beside \`classifier.train\`, whose [learners](/doc/learners.html) have a page of their own. Each saves what it learned in the file
\`modelFileUrl\` (tables: \`statsTableFileUrl\`, \`distTableFileUrl\`) and, where \`functionName\` is given, makes a function of it. The same data, parameters and \`randomSeed\` give the
same file on any number of threads. Over a table of ClickHouse \`kmeans.train\`, \`svd.train\`, \`statsTable.train\` and \`classifier.test\` ask for sums, and no row travels. In what follows, n are rows and p columns. Examples are requests that can be sent to an empty server one after the other.

${[...trainers, ...functions].join('\n')}`;
}

function trainerSection(type: EntityType, manual: TrainerManual): string {
  const served = FUNCTION_TYPES.find(({ name }) => name === manual.functionType);
  const isOwn = served !== undefined && !OTHERS.has(served.name);
  const parts = isOwn
    ? `\nFunction \`${served.name}\`: ${served.summary}\n\n${parameterTable(served)}\n`
    : '';
  return section(type, manual, parts, served);
}

/** Function types that have a page, or a section, of their own. */
const OTHERS: ReadonlySet<string> = new Set([
  'classifier',
  'sql.expression',
  ...Object.keys(MODEL_FUNCTION_MANUALS),
]);

function section(
  type: EntityType,
  manual: TrainerManual,
  more: string,
  served?: EntityType,
): string {
  const paragraphs = manualParagraphs(manual).map(([head, text]) => `**${head}.** ${text}`);
  const requests = exampleOf(type, served).map(
    ({ verb, path, body }) => `${verb} ${path}\n${JSON.stringify(body)}`,
  );
  return `## ${type.name}

${type.summary}${type.aliases === undefined ? '' : ` Also named \`${type.aliases.join('`, `')}\`.`}

${paragraphs.join('\n\n')}

**Example.**

\`\`\`http
${requests.join('\n')}
\`\`\`

${parameterTable(type)}
${more}`;
}

/** The example of the function where it trains by this procedure first, else that of the type. */
function exampleOf(type: EntityType, served: EntityType | undefined): readonly ExampleRequest[] {
  const whole = served === undefined ? [] : exampleRequests(served);
  const trains = ({ body }: ExampleRequest) =>
    (body as { readonly type?: unknown } | null)?.type === type.name;
  return whole.some(trains) ? whole : exampleRequests(type);
}

function parameterTable({ parameters }: EntityType): string {
  const rows = parameterFacts(parameters).map(({ path, type, isRequired, fallback, member }) => [
    `\`${path}\``,
    type,
    isRequired ? 'required' : fallback === undefined ? '' : `\`${fallback}\``,
    member.description ?? '',
  ]);
  return [['parameter', 'type', 'default', 'meaning'], ['---', '---', '---', '---'], ...rows]
    .map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
}

function typeNamed(types: readonly EntityType[], name: string): EntityType {
  const found = types.find((type) => type.name === name);
  assert(found !== undefined, `there is a type ${name}`);
  return found;
}
