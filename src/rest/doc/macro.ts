// Macros of Markdown files: parts of the reference put into a text.
import { readFileSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { ENTITY_KINDS, type EntityKind } from '../../dataset/entity-type.ts';
import type { TypeRegistry } from '../../service/entity/type-registry.ts';
import type { MacroExpander } from '../../service/route/markdown.ts';
import { escapeHtml } from '../../util/html.ts';
import { code, renderTable } from './page.ts';
import { documentedTypes, parameterTable, typePath } from './type-reference.ts';

export interface MacroContext {
  readonly types: TypeRegistry;
  /** the folder of the file that has the macro; undefined: pages of the service itself */
  readonly root?: string;
  /** what stands before `/doc` in links */
  base(): string;
}

/** @returns the HTML of a macro, undefined for an unknown one */
export function macroExpander(context: MacroContext): MacroExpander {
  const macros: Readonly<Record<string, (args: string[]) => string | undefined>> = {
    config: ([kind, type]) => {
      const found = findType(context, kind, type);
      if (found === undefined) return undefined;
      return parameterTable(found, `${context.base()}/doc`) || '<p>No parameters.</p>';
    },
    availabletypes: ([kind, form]) => availableTypes(context, kind, form ?? 'list'),
    type: ([name]) => (name === undefined ? undefined : code(name)),
    doclink: ([type, kind]) => {
      const found = findType(context, kind, type);
      return found === undefined ? undefined : link(context, typePath(found), found.name);
    },
    codeexample: ([file, language]) => codeExample(context, file, language),
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

/** The text of a file of the same folder. */
function codeExample(
  { root }: MacroContext,
  file: string | undefined,
  language = 'text',
): string | undefined {
  if (root === undefined || file === undefined) return undefined;
  const text = textOfFile(root, file);
  if (text === undefined) return undefined;
  return `<pre><code class="language-${escapeHtml(language)}">${escapeHtml(text)}</code></pre>`;
}

/** Undefined for what is no file or lies elsewhere. */
function textOfFile(root: string, file: string): string | undefined {
  try {
    const path = realpathSync(join(root, file));
    return path.startsWith(realpathSync(root) + sep) ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
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
