// Users' programs before they are compiled: what the engine does not tell is written into them.
import { type Node, parse } from 'acorn';

/** A program text that may differ from the user's by insertions, and the way back. */
export interface PreparedProgram {
  readonly text: string;
  /** The column, counted from 0, that a column of `text` had in the user's program. */
  originalColumn(line: number, column: number): number;
}

interface Insertion {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

/**
 * Hands every thrown value to `__thrown`, since only errors carry the place where they were thrown.
 * A text that does not parse is left as it is: the engine will say what is wrong with it.
 */
export function prepareProgram(source: string): PreparedProgram {
  if (!/\bthrow\b/.test(source)) return unchanged(source);
  const program = tryParse(source);
  if (program === undefined) return unchanged(source);
  const insertions: Insertion[] = [];
  visit(program, (node) => {
    if (node.type !== 'ThrowStatement') return;
    const { argument } = node as unknown as { argument: Node };
    insertions.push(insertion(argument, 'start', '__thrown(('));
    insertions.push(insertion(argument, 'end', '))'));
  });
  insertions.sort((a, b) => a.offset - b.offset);
  return { text: insert(source, insertions), originalColumn: columnMap(insertions) };
}

/**
 * Variables that a function body assigns without declaring them; declared, they belong to one call
 * instead of all.
 */
export function undeclaredVariables(body: string, parameters: readonly string[]): string[] {
  const program = tryParse(body);
  if (program === undefined) return [];
  const declared = new Set(parameters);
  const assigned = new Set<string>();
  visit(program, (node) => {
    const parts = node as unknown as Record<string, Node | Node[] | undefined>;
    switch (node.type) {
      case 'VariableDeclarator':
      case 'ClassDeclaration':
        addNames(parts.id, declared);
        break;
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
        addNames(parts.id, declared);
        addNames(parts.params, declared);
        break;
      case 'CatchClause':
        addNames(parts.param, declared);
        break;
      case 'AssignmentExpression':
      case 'ForInStatement':
      case 'ForOfStatement':
        addNames(parts.left, assigned);
        break;
      case 'UpdateExpression':
        addNames(parts.argument, assigned);
        break;
    }
  });
  return [...assigned].filter((name) => !declared.has(name));
}

function unchanged(text: string): PreparedProgram {
  return { text, originalColumn: (_line, column) => column };
}

function tryParse(source: string): Node | undefined {
  try {
    return parse(source, {
      ecmaVersion: 'latest',
      sourceType: 'script',
      locations: true,
      allowReturnOutsideFunction: true,
      allowHashBang: true,
    });
  } catch {
    return undefined;
  }
}

function visit(node: Node, see: (node: Node) => void): void {
  see(node);
  for (const part of Object.values(node)) {
    for (const child of Array.isArray(part) ? part : [part]) {
      if (isNode(child)) visit(child, see);
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** The names that a pattern binds or assigns. */
function addNames(pattern: Node | Node[] | null | undefined, names: Set<string>): void {
  if (pattern === null || pattern === undefined) return;
  if (Array.isArray(pattern)) {
    for (const part of pattern) addNames(part, names);
    return;
  }
  const parts = pattern as unknown as Record<string, Node | Node[] | undefined>;
  switch (pattern.type) {
    case 'Identifier':
      names.add((pattern as unknown as { name: string }).name);
      return;
    case 'ObjectPattern':
      addNames(parts.properties, names);
      return;
    case 'Property':
      addNames(parts.value, names);
      return;
    case 'ArrayPattern':
      addNames(parts.elements, names);
      return;
    case 'AssignmentPattern':
      addNames(parts.left, names);
      return;
    case 'RestElement':
      addNames(parts.argument, names);
      return;
  }
}

function insertion(node: Node, side: 'start' | 'end', text: string): Insertion {
  const place = node.loc?.[side];
  return { offset: node[side], line: place?.line ?? 1, column: place?.column ?? 0, text };
}

function insert(source: string, insertions: readonly Insertion[]): string {
  let text = '';
  let from = 0;
  for (const { offset, text: inserted } of insertions) {
    text += source.slice(from, offset) + inserted;
    from = offset;
  }
  return text + source.slice(from);
}

function columnMap(insertions: readonly Insertion[]): PreparedProgram['originalColumn'] {
  return (line, column) => {
    let shift = 0;
    for (const insertion of insertions) {
      if (insertion.line !== line) continue;
      const start = insertion.column + shift;
      if (start > column) break;
      if (column < start + insertion.text.length) return insertion.column;
      shift += insertion.text.length;
    }
    return Math.max(0, column - shift);
  };
}
