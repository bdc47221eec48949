// CSS selectors of tags, classes, ids and descendants, matched while a page is read.
import { failure } from '../../util/error.ts';

export interface HtmlElement {
  readonly tag: string;
  readonly id: string | undefined;
  readonly classes: ReadonlySet<string>;
}

/** Tests the innermost of a list of nested elements. */
export type ElementMatcher = (path: readonly HtmlElement[]) => boolean;

type ElementTest = (element: HtmlElement) => boolean;

/** @throws SQL_EXECUTION for selectors of other kinds */
export function compileSelector(selector: string): ElementMatcher {
  const alternatives = selector.split(',').map((alternative) => {
    const compounds = alternative.trim().split(/\s+/);
    return compounds.map((compound) => compileCompound(compound, selector));
  });
  return (path) => alternatives.some((tests) => matchesPath(tests, path));
}

function compileCompound(compound: string, selector: string): ElementTest {
  const match = /^(\*|[a-zA-Z][\w-]*)?((?:[.#][\w-]+)*)$/.exec(compound);
  if (match === null || compound === '') {
    const message = `unsupported CSS selector '${selector}'; accepted are tags, .classes, #ids and descendants`;
    throw failure('SQL_EXECUTION', message);
  }
  const tag = match[1]?.toLowerCase() ?? '*';
  const parts = (match[2] as string).match(/[.#][\w-]+/g) ?? [];
  return (element) =>
    (tag === '*' || element.tag === tag) &&
    parts.every((part) => {
      const name = part.slice(1);
      return part.startsWith('#') ? element.id === name : element.classes.has(name);
    });
}

/** The last test is for the element itself, those before for ancestors in order. */
function matchesPath(tests: readonly ElementTest[], path: readonly HtmlElement[]): boolean {
  const own = tests[tests.length - 1] as ElementTest;
  const element = path[path.length - 1];
  if (element === undefined || !own(element)) return false;
  let pending = tests.length - 2;
  for (let i = path.length - 2; i >= 0 && pending >= 0; i--) {
    if ((tests[pending] as ElementTest)(path[i] as HtmlElement)) pending--;
  }
  return pending < 0;
}
