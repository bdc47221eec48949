// The tree to canonical text, which reads back as an equal tree.
import { KEYWORDS } from './keyword.ts';
import type {
  CallNode,
  CaseNode,
  CastNode,
  ColumnExpressionItem,
  CommonTable,
  Exclusion,
  Expression,
  FrameBoundNode,
  FrameNode,
  LiteralValue,
  NamedItem,
  NamePath,
  OrderKey,
  Query,
  QueryNode,
  SqlNode,
  Star,
  TableExpression,
  TableNaming,
  UnaryNode,
  WildcardItem,
  WindowNode,
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
      case 'scalar-query':
        return `(${this.text(node.query)})`;
      case 'exists':
        return `EXISTS (${this.text(node.query)})`;
      case 'quantified': {
        const operand = this.leftOperand(node.operand, LEVEL.comparison);
        return `${operand} ${node.operator} ${node.quantifier.toUpperCase()} (${this.text(node.query)})`;
      }
      case 'tuple':
        return `(${this.list(node.elements)})`;
      case 'distinct-from': {
        const left = this.operand(node.left, LEVEL.postfix);
        const right = this.operand(node.right, LEVEL.sum);
        return `${left} IS ${not(node.negated)}DISTINCT FROM ${right}`;
      }
      case 'window':
        return this.window(node);
      case 'frame':
        return this.frame(node);
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
        const symmetric = node.symmetric === true ? 'SYMMETRIC ' : '';
        return `${operand} ${not(node.negated)}BETWEEN ${symmetric}${low} AND ${high}`;
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
        const word = node.anyCase === true ? 'ILIKE' : 'LIKE';
        const escaped =
          node.escape === undefined ? '' : ` ESCAPE ${this.operand(node.escape, LEVEL.sum)}`;
        return `${this.memberOperand(node.operand)} ${not(node.negated)}${word} ${pattern}${escaped}`;
      }
      case 'is': {
        const operand = this.operand(node.operand, LEVEL.postfix);
        return `${operand} IS ${not(node.negated)}${node.test.toUpperCase()}`;
      }
      case 'case':
        return this.case(node);
      case 'cast':
        return `CAST(${this.text(node.operand)} AS ${castTypeText(node)})`;
      case 'wildcard':
        return this.wildcard(node);
      case 'named-expression':
        return this.namedItem(node);
      case 'column-expression':
        return this.columnExpression(node);
      case 'order-key':
        return `${this.text(node.expression)}${node.descending ? ' DESC' : ''}${nullsText(node)}`;
      case 'dataset-table':
      case 'function-table':
      case 'series-table':
      case 'row-dataset-table':
      case 'atom-dataset-table':
      case 'subquery':
      case 'join':
        return this.table(node);
      case 'common-table':
        return this.commonTable(node);
      case 'query':
      case 'set-query':
      case 'values-query':
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
    const { modifiers } = node;
    const args = node.star ? '*' : this.list(node.args);
    if (modifiers === undefined) return `${name}(${args})`;
    const inside = [
      `${modifiers.distinct ? 'DISTINCT ' : ''}${args}`,
      ...(modifiers.ignoreNulls && !node.star && node.args.length > 0 ? ['IGNORE NULLS'] : []),
      ...this.listClause('ORDER BY', modifiers.orderBy),
    ];
    const { filter, over } = modifiers;
    return [
      `${name}(${inside.join(' ')})`,
      ...(modifiers.ignoreNulls && (node.star || node.args.length === 0) ? ['IGNORE NULLS'] : []),
      ...(filter === undefined ? [] : [`FILTER (WHERE ${this.text(filter)})`]),
      ...(over === undefined ? [] : [`OVER ${this.text(over)}`]),
    ].join(' ');
  }

  protected window(node: WindowNode): string {
    const parts = [
      ...(node.base === undefined ? [] : [this.identifier(node.base)]),
      ...this.listClause('PARTITION BY', node.partitionBy),
      ...this.listClause('ORDER BY', node.orderBy),
      ...(node.frame === undefined ? [] : [this.text(node.frame)]),
    ];
    return `(${parts.join(' ')})`;
  }

  protected frame(node: FrameNode): string {
    const bound = ({ place, offset }: FrameBoundNode) => {
      const words = place.replace('-', ' ').toUpperCase();
      return offset === undefined ? words : `${this.operand(offset, LEVEL.sum)} ${words}`;
    };
    const range = `BETWEEN ${bound(node.from)} AND ${bound(node.to)}`;
    const exclude = node.exclude === 'no others' ? '' : ` EXCLUDE ${node.exclude.toUpperCase()}`;
    return `${node.unit.toUpperCase()} ${range}${exclude}`;
  }

  protected unary(node: UnaryNode): string {
    switch (node.operator) {
      case 'not':
        return `NOT ${this.operand(node.operand, LEVEL.negation)}`;
      case 'timestamp':
        return `TIMESTAMP ${this.operand(node.operand, LEVEL.primary)}`;
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

  protected query(node: QueryNode): string {
    const { orderByAll } = node;
    const descending = orderByAll?.descending === true ? ' DESC' : '';
    return [
      ...this.withClause(node),
      this.queryBody(node),
      ...this.listClause('ORDER BY', node.orderBy),
      ...(orderByAll === undefined ? [] : [`ORDER BY ALL${descending}`]),
      ...this.countClause('LIMIT', node.limit),
      ...this.countClause('OFFSET', node.offset),
    ].join(' ');
  }

  private withClause(node: QueryNode): readonly string[] {
    if (node.with === undefined) return [];
    return [`WITH ${node.with.recursive ? 'RECURSIVE ' : ''}${this.list(node.with.tables)}`];
  }

  private commonTable(node: CommonTable): string {
    const { materialized } = node;
    const hint = materialized === undefined ? '' : `${materialized ? '' : 'NOT '}MATERIALIZED `;
    const name = this.identifier(node.name) + this.columnNames(node.columnNames);
    return `${name} AS ${hint}(${this.text(node.query)})`;
  }

  private columnNames(names: readonly string[] | undefined): string {
    if (names === undefined) return '';
    return ` (${names.map((name) => this.identifier(name)).join(', ')})`;
  }

  protected queryBody(node: QueryNode): string {
    switch (node.kind) {
      case 'query':
        return this.selectBody(node);
      case 'set-query': {
        const words = [node.operator.toUpperCase()];
        if (node.all) words.push('ALL');
        if (node.byName) words.push('BY NAME');
        return `(${this.text(node.left)}) ${words.join(' ')} (${this.text(node.right)})`;
      }
      case 'values-query':
        return `VALUES ${node.rows.map((row) => `(${this.list(row)})`).join(', ')}`;
      default:
        return unreachable(node);
    }
  }

  private selectBody(node: Query): string {
    const on = node.distinctOn.length > 0 ? `DISTINCT ON (${this.list(node.distinctOn)}) ` : '';
    const distinct = node.distinct === true ? 'DISTINCT ' : on;
    const windows = (node.windows ?? []).map(
      ({ name, window }) => `${this.identifier(name)} AS ${this.text(window)}`,
    );
    return [
      `SELECT ${distinct}${this.list(node.select)}`,
      ...this.clause('NAMED', node.named),
      ...this.clause('FROM', node.from),
      ...this.clause('WHEN', node.when),
      ...this.clause('WHERE', node.where),
      ...this.grouping(node),
      ...this.clause('HAVING', node.having),
      ...(windows.length === 0 ? [] : [`WINDOW ${windows.join(', ')}`]),
      ...this.clause('QUALIFY', node.qualify),
    ].join(' ');
  }

  private grouping(node: Query): readonly string[] {
    if (node.groupByAll === true) return ['GROUP BY ALL'];
    if (node.groupingSets === undefined) return this.listClause('GROUP BY', node.groupBy);
    const sets = node.groupingSets.map(
      (set) => `(${this.list(set.map((index) => node.groupBy[index] as Expression))})`,
    );
    return [`GROUP BY GROUPING SETS (${sets.join(', ')})`];
  }

  private countClause(keyword: string, count: Expression | undefined): readonly string[] {
    if (count === undefined) return [];
    const plain = count.kind === 'literal' || count.kind === 'parameter';
    // Digits alone, however large: an exponent would be no count.
    if (count.kind === 'literal' && typeof count.value === 'number') {
      return [`${keyword} ${BigInt(count.value)}`];
    }
    return [`${keyword} ${plain ? this.text(count) : `(${this.text(count)})`}`];
  }

  protected table(node: TableExpression): string {
    switch (node.kind) {
      case 'dataset-table':
        return this.aliased(this.identifier(node.name), node);
      case 'function-table': {
        const args = this.list(node.options ? [...node.tables, node.options] : node.tables);
        return this.aliased(`${this.identifier(node.name)}(${args})`, node);
      }
      case 'series-table':
        return this.aliased(`${node.name}(${this.list(node.args)})`, node);
      case 'row-dataset-table':
        return this.aliased(`row_dataset(${this.text(node.expression)})`, node);
      case 'atom-dataset-table':
        return this.aliased(`atom_dataset(${this.text(node.expression)})`, node);
      case 'subquery':
        return this.aliased(
          `${node.lateral === true ? 'LATERAL ' : ''}(${this.text(node.query)})`,
          node,
        );
      case 'join': {
        const right =
          node.right.kind === 'join' ? `(${this.text(node.right)})` : this.text(node.right);
        const natural = node.natural === true ? 'NATURAL ' : '';
        const kind = node.joinKind === 'inner' ? '' : `${node.joinKind.toUpperCase()} `;
        const on = node.on === undefined ? '' : ` ON ${this.text(node.on)}`;
        const using = node.using === undefined ? on : ` USING${this.columnNames(node.using)}`;
        return `${this.text(node.left)} ${natural}${kind}JOIN ${right}${using}`;
      }
      default:
        return unreachable(node);
    }
  }

  protected aliased(text: string, naming: TableNaming): string {
    const { alias, sample } = naming;
    const named =
      alias === undefined
        ? text
        : `${text} AS ${this.identifier(alias)}${this.columnNames(naming.columnNames)}`;
    if (sample === undefined) return named;
    const seed = sample.seed === undefined ? '' : ` REPEATABLE (${this.number(sample.seed)})`;
    return `${named} TABLESAMPLE ${this.number(sample.amount)} ${sample.unit.toUpperCase()}${seed}`;
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

function castTypeText(node: CastNode): string {
  return node.scale === undefined ? node.type : `decimal(38, ${node.scale})`;
}

function nullsText(node: OrderKey): string {
  return node.nulls === undefined ? '' : ` NULLS ${node.nulls.toUpperCase()}`;
}

function countClause(keyword: string, count: number | undefined): readonly string[] {
  return count === undefined ? [] : [`${keyword} ${BigInt(count)}`];
}

function samePath(left: NamePath, right: NamePath | '*'): boolean {
  if (right === '*' || left.length !== right.length) return false;
  return left.every((element, index) => element === right[index]);
}
