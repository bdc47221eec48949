// Finds the route of a request. Paths are split at `/` first and decoded element by element, so an
// encoded slash is part of an id.

import { failure, type RowanError } from '../../util/error.ts';
import { findNearestWord } from '../../util/nearest-word.ts';
import { decodePathElement } from '../../util/path-element.ts';
import type { Verb } from './request.ts';
import type { Route } from './route.ts';

interface Node {
  readonly literals: Map<string, Node>;
  element: { readonly name: string; readonly node: Node } | undefined;
  readonly routes: Map<string, Route>;
  /** routes whose pattern ends in `*` here */
  readonly rest: Map<string, Route>;
}

interface Match {
  readonly params: Record<string, string>;
  readonly routes: ReadonlyMap<string, Route>;
}

/** A route and the decoded elements of the path that led to it. */
export interface RouteMatch {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

const RECENT_COUNT_MAX = 1000;
const RECENT_PATH_LENGTH_MAX = 256;

export class Router {
  readonly #root = makeNode();
  /** the latest request of a path */
  readonly #recent = new Map<string, { readonly verb: string; readonly match: RouteMatch }>();
  readonly routes: readonly Route[];

  constructor(routes: readonly Route[]) {
    this.routes = routes;
    for (const route of routes) this.#add(route);
  }

  #add(route: Route): void {
    let node = this.#root;
    const elements = route.path.split('/').slice(1);
    for (const [index, element] of elements.entries()) {
      if (element === '*' && index === elements.length - 1) {
        node.rest.set(route.verb, route);
        return;
      }
      node = child(node, element);
    }
    if (node.routes.has(route.verb)) throw new Error(`two routes ${route.verb} ${route.path}`);
    node.routes.set(route.verb, route);
  }

  /** The route of a verb and path as they were sent. @throws UNKNOWN_RESOURCE, INVALID_PARAMETER */
  find(verb: string, path: string): RouteMatch {
    const known = this.#recent.get(path);
    if (known !== undefined && known.verb === verb) return known.match;
    const match = this.#match(path);
    if (match === undefined) throw unknownResource(verb, path, [], this.#nearestPath(path));
    const { params, routes } = match;
    const route = routes.get(verb === 'HEAD' ? 'GET' : verb);
    if (route === undefined) throw unknownResource(verb, path, verbsOf(routes));
    return this.#remember(verb, path, { route, params });
  }

  /** The path that the first misspelt element was meant to be in, as far as it goes. */
  #nearestPath(path: string): string | undefined {
    let node = this.#root;
    const elements = path.split('/').slice(1);
    for (const [index, element] of elements.entries()) {
      const next = node.literals.get(element) ?? node.element?.node;
      if (next === undefined) {
        const near = findNearestWord(element, node.literals.keys());
        if (near === undefined) return undefined;
        return ['', ...elements.slice(0, index), near, ...elements.slice(index + 1)].join('/');
      }
      node = next;
    }
    return undefined;
  }

  /** Clients ask for few paths very often; which paths exist never changes. */
  #remember(verb: string, path: string, match: RouteMatch): RouteMatch {
    if (path.length > RECENT_PATH_LENGTH_MAX) return match;
    if (this.#recent.size >= RECENT_COUNT_MAX) this.#recent.clear();
    this.#recent.set(path, { verb, match });
    return match;
  }

  /** The verbs of a resource, as Allow lists them; empty when there is no such resource. */
  allowedVerbs(path: string): Verb[] {
    return verbsOf(this.#match(path)?.routes);
  }

  matchingRoutes(path: string): Route[] {
    return [...(this.#match(path)?.routes.values() ?? [])];
  }

  /**
   * The most specific pattern that fits: a literal before a bound element, whole patterns before
   * open ones. It alone says which verbs there are: a path is one resource.
   */
  #match(path: string): Match | undefined {
    const elements = path.split('/').slice(1);
    const decoded = elements.map(decodeElement);
    const visit = (
      node: Node,
      index: number,
      params: Record<string, string>,
    ): Match | undefined => {
      if (index === elements.length) {
        if (node.routes.size > 0) return { params, routes: node.routes };
        return node.rest.size > 0
          ? { params: { ...params, rest: '' }, routes: node.rest }
          : undefined;
      }
      const element = decoded[index] as string;
      const { element: bound } = node;
      const literal = node.literals.get(element);
      const found =
        (literal && visit(literal, index + 1, params)) ??
        (bound && visit(bound.node, index + 1, { ...params, [bound.name]: element }));
      if (found !== undefined || node.rest.size === 0) return found;
      const rest = `/${elements.slice(index).join('/')}`;
      return { params: { ...params, rest }, routes: node.rest };
    };
    return visit(this.#root, 0, {});
  }
}

function makeNode(): Node {
  return { literals: new Map(), element: undefined, routes: new Map(), rest: new Map() };
}

function child(node: Node, pattern: string): Node {
  if (pattern.startsWith(':')) {
    node.element ??= { name: pattern.slice(1), node: makeNode() };
    return node.element.node;
  }
  let next = node.literals.get(pattern);
  if (next === undefined) {
    next = makeNode();
    node.literals.set(pattern, next);
  }
  return next;
}

function verbsOf(routes: Match['routes'] = new Map()): Verb[] {
  const verbs = new Set(routes.keys() as Iterable<Verb>);
  if (verbs.has('GET')) verbs.add('HEAD');
  return [...verbs].sort();
}

export function unknownResource(
  verb: string,
  path: string,
  allowed: readonly string[] = [],
  near?: string,
): RowanError {
  return failure(
    'UNKNOWN_RESOURCE',
    { verb, path, near },
    allowed.length === 0 ? undefined : { allowedVerbs: allowed },
  );
}

function decodeElement(element: string): string {
  try {
    return decodePathElement(element);
  } catch {
    throw failure('INVALID_PARAMETER', `path element '${element}' is not percent-encoded UTF-8`);
  }
}
