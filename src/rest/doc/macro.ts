// Macros of Markdown files: parts of the reference put into a text.
import { ENTITY_KINDS, type EntityKind } from '../../dataset/entity-type.ts';
import type { MacroExpander } from '../../service/markdown.ts';
import type { TypeRegistry } from '../../service/type-registry.ts';
import { escapeHtml } from '../../util/html.ts';
import { code, renderTable } from './page.ts';
import { documentedTypes, parameterTable, typePath } from './type-reference.ts';

export interface MacroContext {
  readonly types: TypeRegistry;
  /** what stands before `/doc` in links */
  base(): string;
}

/** @returns the HTML of a macro, undefined for an unknown one */
export function macroExpander(context: MacroContext): MacroExpander {
  const macros: Readonly<Record<string, (args: string[]) => string | undefined>> = {
    config: ([kind, type]) => {
      const found = findType(context, kind, type);
      return found === undefined ? undefined : parameterTable(found) || '<p>No parameters.</p>';
    },
    availabletypes: ([kind, form]) => availableTypes(context, kind, form ?? 'list'),
    type: ([name]) => (name === undefined ? undefined : code(name)),
    doclink: ([type, kind]) => {
      const found = findType(context, kind, type);
      return found === undefined ? undefined : link(context, typePath(found), found.name);
    },
    codeexample: ([file, language]) =>
      file === undefined
        ? undefined
        : `<p>${link(context, `/${file}`, `${file} (${language ?? 'text'})`)}</p>`,
    nblink: ([name]) => (name === undefined ? undefined : link(context, `/guide/${name}`, name)),
    jmlclassifier: ([name]) => (name === undefined ? undefined : code(name)),
    jsmodules: () => `<ul>${MODULES.map((name) => `<li>${code(name)}</li>`).join('')}</ul>`,
    jsmodule: ([module]) => moduleLink(module),
    jsfunctions: ([module]) => moduleLink(module),
    jsfunction: ([module, name]) =>
      module === undefined || name === undefined ? undefined : code(`${module}: ${name}`),
  };
  return (name, args) => {
    const words = args.split(/\s+/).filter((word) => word !== '');
    return Object.hasOwn(macros, name) ? macros[name]?.(words) : undefined;
  };
}

const MODULES = ['mldb', 'mldb/unittest'];

function moduleLink(module: string | undefined): string | undefined {
  if (module === undefined || !MODULES.includes(module)) return undefined;
  const path = `/v1/types/plugins/javascript/routes/modules/${module}/doc.html`;
  return `<a href="${path}">${escapeHtml(module)}</a>`;
}

function findType({ types }: MacroContext, kind: string | undefined, name: string | undefined) {
  if (!isKind(kind) || name === undefined) return undefined;
  return types.find(kind, name);
}

function isKind(text: string | undefined): text is EntityKind {
  return ENTITY_KINDS.some((kind) => kind === text);
}

function availableTypes(
  context: MacroContext,
  kind: string | undefined,
  form: string,
): string | undefined {
  if (!isKind(kind)) return undefined;
  const found = documentedTypes(context.types, kind, true);
  const links = found.map((type) => link(context, typePath(type), type.name));
  if (form === 'table') {
    const rows = found.map((type, index) => [links[index] as string, escapeHtml(type.summary)]);
    return renderTable(['Type', 'Meaning'], rows);
  }
  return `<ul>${links.map((html) => `<li>${html}</li>`).join('')}</ul>`;
}

function link(context: MacroContext, path: string, text: string): string {
  return `<a href="${escapeHtml(`${context.base()}/doc${path}`)}">${escapeHtml(text)}</a>`;
}
