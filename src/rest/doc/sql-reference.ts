// Reference pages of the functions of the SQL language, from their declarations.
import type { FunctionDeclaration } from '../../plan/function.ts';
import { functionSignature } from '../../plan/type/signature.ts';
import { escapeHtml } from '../../util/html.ts';
import { code, type PageContent, prose, renderTable } from './page.ts';

/** The chapters and their functions, both in the order of their names. */
export function functionFamilies(
  functions: readonly FunctionDeclaration[],
): Map<string, FunctionDeclaration[]> {
  const families = new Map<string, FunctionDeclaration[]>();
  const sorted = [...functions].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const declaration of sorted) {
    const family = families.get(declaration.family);
    if (family === undefined) families.set(declaration.family, [declaration]);
    else family.push(declaration);
  }
  return new Map([...families].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** All functions by name, each with its meaning. */
export function functionIndexPage(functions: readonly FunctionDeclaration[]): PageContent {
  const rows = functions
    .flatMap((declaration) =>
      [declaration.name, ...(declaration.aliases ?? [])].map((name) => ({ name, declaration })),
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, declaration }) => {
      const place = `..${familyPath(declaration.family)}#${encodeURIComponent(declaration.name)}`;
      return [
        `<a href="${escapeHtml(place)}">${code(functionSignature({ ...declaration, name }))}</a>`,
        prose(declaration.summary),
      ];
    });
  return {
    title: 'SQL functions',
    body: `<h1>SQL functions</h1>\n${renderTable(['Function', 'Meaning'], rows)}`,
  };
}

export function familyPath(family: string): string {
  return `/sql/${encodeURIComponent(family)}.html`;
}

export function familyPage(family: string, functions: readonly FunctionDeclaration[]): PageContent {
  return {
    title: `SQL functions: ${family}`,
    body: `<h1>SQL functions: ${escapeHtml(family)}</h1>
${functions.map(functionSection).join('\n')}`,
  };
}

function functionSection(declaration: FunctionDeclaration): string {
  const { name, aliases = [], summary, parameters, examples, kind } = declaration;
  const others = aliases.length === 0 ? '' : `, also named ${aliases.map(code).join(', ')}`;
  const note = kind === 'aggregate' ? 'aggregate' : kind === 'value' ? 'rows and atoms' : 'atoms';
  const parameterRows = parameters.map((parameter) => [
    code(parameter.name),
    prose(parameter.description),
    parameter.optional === true ? 'optional' : parameter.variadic === true ? 'any number' : '',
  ]);
  const exampleRows = examples.map(([expression, result]) => [code(expression), code(result)]);
  return `<h2 id="${escapeHtml(name)}">${code(functionSignature(declaration))}</h2>
<p class="dim">${note}${others}</p>
<p>${prose(summary)}</p>
${renderTable(['Argument', 'Meaning', ''], parameterRows)}
${renderTable(['Example', 'Result'], exampleRows)}`;
}
