// The page of learners, from their declarations.
import type { TObject, TSchema } from 'typebox';
import { COMMON_OPTIONS, type Learner } from '../../learn/learner.ts';
import { LEARNERS } from '../../learn/learners.ts';
import { BUNDLED_CONFIGURATIONS } from '../../procedure/classifier/bundled-configuration.ts';
import { acceptedText } from '../../schema/accepted.ts';
import { schemaData } from '../../schema/schema-data.ts';
import { LEARNER_MANUALS } from './learner-manual.ts';

/** The reference of the learners that a `configuration` can name, and their options, as Markdown. */
export function learnerReference(): string {
  const bundled = Object.entries(BUNDLED_CONFIGURATIONS).map(([name, configuration]) => [
    `\`${name}\``,
    `\`${JSON.stringify(configuration)}\``,
  ]);
  return `# Learners and their options

The parameter \`configuration\` of \`classifier.train\` and \`classifier.experiment\` names a learner by its \`type\` and gives its options:
\`{"type": "decision_tree", "max_depth": 8}\`. It may also hold several, one of which \`algorithm\` names by its path:
\`{"mine": {"type": "gbt"}, "small": {"type": "decision_tree", "max_depth": 2}}\` with \`"algorithm": "small"\`.

An option that is not given is that of the nearest object around the learner that has it, or the default. Values may be written as texts (\`"0.5"\`).
Keys that begin with \`_\` are comments. A key that the learner does not know is refused; where the configuration itself is the learner and \`algorithm\` is empty,
it is listed among the \`unknownKeys\` in the details of the run instead.

${LEARNERS.map(section).join('\n')}
## Options of every learner

${optionTable(COMMON_OPTIONS)}

## Bundled configurations

Without \`configuration\` and \`configurationFile\`, \`algorithm\` names one of these.

${table(['name', 'configuration'], bundled)}
`;
}

function section({ type, summary, modes, options, isCommittee }: Learner): string {
  const inner =
    isCommittee === true
      ? ' `weak_learner` is the configuration of the learner inside, which inherits options from this one.'
      : '';
  const own = Object.keys(options.properties).length === 0 ? 'No options of its own.' : '';
  return `## ${type}

${summary.charAt(0).toUpperCase()}${summary.slice(1)}. Modes: ${modes.join(', ')}.${inner}

${manual(type)}${own || optionTable(options)}
`;
}

/** What the learner is for, how it works, and an example. */
function manual(type: string): string {
  const found = LEARNER_MANUALS[type];
  if (found === undefined) return '';
  const { cost, example, method, mode, source, typical, when } = found;
  return `**When.** ${when}

**How.** ${method.join('\n\n')}

**Typical values.** ${typical}

**Cost**, of n rows and p columns: ${cost}

**Source.** ${source}

**Example**, in mode ${mode}: \`${JSON.stringify(example)}\`

`;
}

function optionTable({ properties }: TObject): string {
  return table(
    ['option', 'accepted', 'default', 'meaning'],
    Object.entries(properties).map(([name, option]) => optionRow(name, option)),
  );
}

function optionRow(name: string, option: TSchema): string[] {
  const schema = schemaData(option);
  const names = [name, ...(schema.aliases ?? [])].map((each) => `\`${each}\``).join(', ');
  const accepted = acceptedText(schema);
  return [names, accepted, `\`${JSON.stringify(schema.default)}\``, schema.description ?? ''];
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows]
    .map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
}
