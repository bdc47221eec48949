// The tree to canonical text, which reads back as an equal tree.
import { KEYWORDS } from './keyword.ts';
import type {
  CallNode,
  CaseNode,
  ColumnExpressionItem,
  Exclusion,
  Expression,
  LiteralValue,
  NamedItem,
  NamePath,
  Query,
  SqlNode,
  Star,
  TableExpression,
  UnaryNode,
  WildcardItem,
} from './node.ts';
import { outputName, unreachable } from './node.ts';
import { LEVEL, levelOf } from './precedence.ts';
import { nodesBottomUp } from './walk.ts';

/**
 * Prints syntax trees in the dialect of Rowan; another dialect overrides what differs. Texts are
 * made bottom-up, so that a method that prints a node finds those of its children in `text`. The
 * left side of a chain is put in by concatenation, since joining a list would copy its long text.
 */
export class SqlPrinter {
  private texts = new Map<SqlNode, string>();

  /** Prints a tree; takes time and memory in proportion to its text, whatever its depth. */
  print(root: SqlNode): string {
    const outer = this.texts;
    this.texts = new Map();
    for (const node of nodesBottomUp(root)) this.texts.set(node, this.compose(node));
    const printed = this.text(root);
    this.texts = outer;
    return printed;
  }

  /** The text of a child of the node that is being printed. */
  protected text(node: SqlNode): string {
    return this.texts.get(node) as string;
  }

  /** The text of an operand, in parentheses if it binds less tightly than `level`. */
  protected operand(node: Expression, level: number): string {
    return levelOf(node) < level ? `(${this.text(node)})` : this.text(node);
  }

  protected list(nodes: readonly SqlNode[]): string {
    return nodes.map((node) => this.text(node)).join(', ');
  }

  protected compose(node: SqlNode): string {
    switch (node.kind) {
      case 'literal':
        return this.literal(node.value);
      case 'interval-literal':
        return `INTERVAL ${this.string(node.text)}`;
      case 'parameter':
        return this.parameter(node.name);
      case 'column':
        return this.name(node.path);
      case 'call':
        return this.call(node);
      case 'extract':
        return `${this.operand(node.operand, LEVEL.postfix)}[${this.text(node.index)}]`;
      case 'row':
        return `{${this.list(node.items)}}`;
      case 'embedding':
        return `[${this.list(node.elements)}]`;
      case 'unary':
        return this.unary(node);
      case 'binary': {
        const level = levelOf(node);
        const left = this.leftOperand(node.left, level);
        return `${left} ${node.operator} ${this.operand(node.right, level + 1)}`;
      }
      case 'and':
        return node.operands.map((each) => this.operand(each, LEVEL.member)).join(' AND ');
      case 'or':
        return node.operands.map((each) => this.operand(each, LEVEL.and)).join(' OR ');
      case 'between': {
        const operand = this.leftOperand(node.operand, LEVEL.comparison);
        const low = this.operand(node.low, LEVEL.sum);
        const high = this.operand(node.high, LEVEL.sum);
        return `${operand} ${not(node.negated)}BETWEEN ${low} AND ${high}`;
      }
      case 'in-list':
        return this.member(node.operand, node.negated, this.list(node.choices));
      case 'in-query':
        return this.member(node.operand, node.negated, this.text(node.query));
      case 'in-keys':
        return this.member(node.operand, node.negated, `KEYS OF ${this.text(node.row)}`);
      case 'in-values':
        return this.member(node.operand, node.negated, `VALUES OF ${this.text(node.row)}`);
      case 'like': {
        const pattern = this.operand(node.pattern, LEVEL.sum);
        return `${this.memberOperand(node.operand)} ${not(node.negated)}LIKE ${pattern}`;
      }
      case 'is': {
        const operand = this.operand(node.operand, LEVEL.postfix);
        return `${operand} IS ${not(node.negated)}${node.test.toUpperCase()}`;
      }
      case 'case':
        return this.case(node);
      case 'cast':
        return `CAST(${this.text(node.operand)} AS ${node.type})`;
      case 'wildcard':
        return this.wildcard(node);
      case 'named-expression':
        return this.namedItem(node);
      case 'column-expression':
        return this.columnExpression(node);
      case 'order-key':
        return `${this.text(node.expression)}${node.descending ? ' DESC' : ''}`;
      case 'dataset-table':
      case 'function-table':
      case 'row-dataset-table':
      case 'atom-dataset-table':
      case 'subquery':
      case 'join':
        return this.table(node);
      case 'query':
        return this.query(node);
      default:
        return unreachable(node);
    }
  }

  /** A name of several elements; the first must not be taken for a keyword. */
  protected name(path: NamePath): string {
    return path.map((element) => this.identifier(element)).join('.');
  }

  protected identifier(element: string): string {
    const bare = /^[A-Za-z_][A-Za-z0-9_]*$/.test(element) && !KEYWORDS.has(element.toUpperCase());
    return bare ? element : `"${element.replaceAll('"', '""')}"`;
  }

  protected string(text: string): string {
    return `'${text.replaceAll("'", "''")}'`;
  }

  protected parameter(name: string): string {
    return /^[A-Za-z0-9_]+$/.test(name) ? `$${name}` : `$"${name.replaceAll('"', '""')}"`;
  }

  protected literal(value: LiteralValue): string {
    if (value === null) return 'NULL';
    if (typeof value === 'string') return this.string(value);
    return typeof value === 'number' ? this.number(value) : value.toString();
  }

  protected number(value: number): string {
    if (Number.isNaN(value)) return 'NAN';
    if (!Number.isFinite(value)) return value < 0 ? '-INF' : 'INF';
    // Digits alone would be read as an exact integer; a large double is not one.
    const large = Number.isInteger(value) && !Number.isSafeInteger(value);
    return large ? value.toExponential() : value.toString();
  }

  protected call(node: CallNode): string {
    const name = this.name(node.table === undefined ? [node.name] : [node.table, node.name]);
    return `${name}(${node.star ? '*' : this.list(node.args)})`;
  }

  protected unary(node: UnaryNode): string {
    switch (node.operator) {
      case 'not':
        return `NOT ${this.operand(node.operand, LEVEL.negation)}`;
      case 'timestamp':
        return `TIMESTAMP ${this.operand(node.operand, LEVEL.prefix)}`;
      case '~':
        return `~${this.operand(node.operand, LEVEL.prefix)}`;
      case '+':
      case '-':
        // A sign within a sign is put in parentheses: `--` would begin a comment.
        return `${node.operator}${this.operand(node.operand, LEVEL.product)}`;
      default:
        return unreachable(node.operator);
    }
  }

  protected case(node: CaseNode): string {
    const words = ['CASE'];
    if (node.operand !== undefined) words.push(this.text(node.operand));
    for (const { when, result } of node.branches) {
      words.push(`WHEN ${this.text(when)} THEN ${this.text(result)}`);
    }
    if (node.otherwise !== undefined) words.push(`ELSE ${this.text(node.otherwise)}`);
    return [...words, 'END'].join(' ');
  }

  /** The item with a name of its own, unless it would get the same one without. */
  protected namedItem(node: NamedItem): string {
    const text = this.text(node.expression);
    const name = outputName(node);
    if (name === '*') return `${text} AS *`;
    const automatic = outputName({ ...node, name: undefined, surface: text });
    return samePath(name, automatic) ? text : `${text} AS ${this.name(name)}`;
  }

  protected query(node: Query): string {
    const distinct =
      node.distinctOn.length > 0 ? `DISTINCT ON (${this.list(node.distinctOn)}) ` : '';
    return [
      `SELECT ${distinct}${this.list(node.select)}`,
      ...this.clause('NAMED', node.named),
      ...this.clause('FROM', node.from),
      ...this.clause('WHEN', node.when),
      ...this.clause('WHERE', node.where),
      ...this.listClause('GROUP BY', node.groupBy),
      ...this.clause('HAVING', node.having),
      ...this.listClause('ORDER BY', node.orderBy),
      ...countClause('LIMIT', node.limit),
      ...countClause('OFFSET', node.offset),
    ].join(' ');
  }

  protected table(node: TableExpression): string {
    switch (node.kind) {
      case 'dataset-table':
        return this.aliased(this.identifier(node.name), node.alias);
      case 'function-table': {
        const args = this.list(node.options ? [...node.tables, node.options] : node.tables);
        return this.aliased(`${this.identifier(node.name)}(${args})`, node.alias);
      }
      case 'row-dataset-table':
        return this.aliased(`row_dataset(${this.text(node.expression)})`, node.alias);
      case 'atom-dataset-table':
        return this.aliased(`atom_dataset(${this.text(node.expression)})`, node.alias);
      case 'subquery':
        return this.aliased(`(${this.text(node.query)})`, node.alias);
      case 'join': {
        const right =
          node.right.kind === 'join' ? `(${this.text(node.right)})` : this.text(node.right);
        const word = node.joinKind === 'inner' ? 'JOIN' : `${node.joinKind.toUpperCase()} JOIN`;
        const on = node.on === undefined ? '' : ` ON ${this.text(node.on)}`;
        return `${this.text(node.left)} ${word} ${right}${on}`;
      }
      default:
        return unreachable(node);
    }
  }

  protected aliased(text: string, alias: string | undefined): string {
    return alias === undefined ? text : `${text} AS ${this.identifier(alias)}`;
  }

  protected clause(keyword: string, node: SqlNode | undefined): readonly string[] {
    return node === undefined ? [] : [`${keyword} ${this.text(node)}`];
  }

  protected listClause(keyword: string, nodes: readonly SqlNode[]): readonly string[] {
    return nodes.length === 0 ? [] : [`${keyword} ${this.list(nodes)}`];
  }

  /** BETWEEN would take an operator of its own level that follows it into its upper bound. */
  private leftOperand(node: Expression, level: number): string {
    return this.operand(node, node.kind === 'between' ? LEVEL.primary : level);
  }

  private member(operand: Expression, negated: boolean, set: string): string {
    return `${this.memberOperand(operand)} ${not(negated)}IN (${set})`;
  }

  /** `NOT x IN (…)` negates x; parentheses say so to the reader. */
  private memberOperand(node: Expression): string {
    const prefixed = node.kind === 'unary' && node.operator === 'not';
    return this.operand(node, prefixed ? LEVEL.primary : LEVEL.member);
  }

  private wildcard(node: WildcardItem): string {
    const excluded = node.excluding.map((exclusion) => this.exclusion(exclusion)).join(', ');
    const excluding = node.excluding.length > 0 ? ` EXCLUDING (${excluded})` : '';
    const replacement = node.replacement === undefined ? '' : ` AS ${this.star(node.replacement)}`;
    return `${this.star(node.star)}${excluding}${replacement}`;
  }

  private star(star: Star): string {
    return `${this.name(star.path)}${star.dotted ? '.*' : '*'}`;
  }

  private exclusion(exclusion: Exclusion): string {
    return exclusion.kind === 'star' ? this.star(exclusion.star) : this.name(exclusion.path);
  }

  private columnExpression(node: ColumnExpressionItem): string {
    const parts = [
      ...this.clause('SELECT', node.select),
      ...this.clause('AS', node.as),
      ...this.clause('WHERE', node.where),
      ...this.listClause('ORDER BY', node.orderBy),
      ...countClause('OFFSET', node.offset),
      ...countClause('LIMIT', node.limit),
    ];
    return `COLUMN EXPR ${node.structured ? 'STRUCTURED ' : ''}(${parts.join(' ')})`;
  }
}

/** The canonical text of a tree in the dialect of Rowan. */
export function printSql(node: SqlNode): string {
  return new SqlPrinter().print(node);
}

function not(negated: boolean): string {
  return negated ? 'NOT ' : '';
}

function countClause(keyword: string, count: number | undefined): readonly string[] {
  return count === undefined ? [] : [`${keyword} ${BigInt(count)}`];
}

function samePath(left: NamePath, right: NamePath | '*'): boolean {
  if (right === '*' || left.length !== right.length) return false;
  return left.every((element, index) => element === right[index]);
}
