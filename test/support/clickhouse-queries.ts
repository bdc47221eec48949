// Random queries over the tables of ClickHouse that tests have.
import { Random } from '../../src/learn/random.ts';

/** Expressions and queries over the columns of the tables; sums stay far from where they would round. */
export class RandomQueries {
  readonly #random: Random;
  /** what columns are read of */
  #tables: readonly string[] = [''];

  constructor(seed: number) {
    this.#random = Random.of(seed);
  }

  next(): string {
    const condition = this.#random.below(4) === 0 ? '' : ` WHERE ${this.#condition(2)}`;
    switch (this.#random.below(4)) {
      case 0:
        return `SELECT ${this.#number(2)} AS a, ${this.#text(2)} AS b, ${this.#condition(1)} AS c FROM T${condition}`;
      case 1: {
        const key = this.#pick([
          () => 's',
          () => 'i',
          () => 'c',
          () => 'year(t)',
          () => this.#condition(1),
        ]);
        const having = this.#random.below(2) === 0 ? '' : ` HAVING ${this.#aggregate()} > 2`;
        return `SELECT ${key} AS k, ${this.#aggregate()} AS a, ${this.#aggregate()} AS b FROM T${condition} GROUP BY ${key}${having}`;
      }
      case 2:
        return `SELECT DISTINCT ${this.#text(1)} AS a, ${this.#condition(1)} AS b FROM T${condition}`;
      default: {
        const direction = this.#pick(['', ' DESC', ' NULLS LAST', ' DESC NULLS FIRST']);
        const key = this.#random.below(2) === 0 ? this.#number(1) : this.#text(1);
        return `SELECT id, ${key} AS k FROM T${condition} ORDER BY ${key}${direction}, id LIMIT ${1 + this.#random.below(40)}`;
      }
    }
  }

  /** Joins, semi joins and anti joins of the table `T` with itself. */
  nextJoin(): string {
    switch (this.#random.below(4)) {
      case 0: {
        const rows = this.#over(['b.'], () => this.#condition(1));
        const member = this.#pick(['i', 's', 'x', '(c || s)', '(i + 1)']);
        const list = `(SELECT ${member} FROM T AS b WHERE ${rows} AND ${member} IS NOT NULL)`;
        return this.#over(['a.'], () => {
          const isIn = this.#pick(['IN', 'NOT IN']);
          const read = member.replaceAll(/\b[isxc]\b/g, 'a.$&');
          return `SELECT a.id, ${this.#number(1)} AS n FROM T AS a WHERE ${read} ${isIn} ${list} AND ${this.#condition(1)}`;
        });
      }
      case 1: {
        const both = this.#equality();
        const more = this.#over(['b.'], () => this.#condition(1));
        const isThere = this.#pick(['EXISTS', 'NOT EXISTS']);
        return `SELECT a.id FROM T AS a WHERE ${isThere} (SELECT 1 FROM T AS b WHERE ${both} AND ${more})`;
      }
      case 2: {
        const join = this.#pick(['JOIN', 'LEFT JOIN']);
        const more = this.#over(['a.'], () => `${this.#condition(1)} AND a.i > 1`);
        return `SELECT a.id, b.id, b.s FROM T AS a ${join} T AS b ON ${this.#equality()} AND b.x > 3 WHERE ${more}`;
      }
      default: {
        const join = this.#pick(['JOIN', 'JOIN', 'LEFT JOIN', 'RIGHT JOIN']);
        const other = this.#pick([
          'T',
          'T',
          '(SELECT i, s, id, max(x) AS x, min(c) AS c, sum(f4) AS f4, max(t) AS t, max(big) AS big FROM T GROUP BY i, s, id)',
        ]);
        const own = this.#over(join === 'JOIN' ? ['a.', 'b.'] : ['b.'], () => this.#condition(1));
        const where = this.#over(['a.', 'b.'], () => this.#condition(1));
        const list = this.#over(['a.', 'b.'], () => {
          const key = this.#pick([
            () => this.#column('s'),
            () => this.#column('i'),
            () => this.#condition(1),
          ]);
          return { key, sums: `${this.#aggregate()} AS m, ${this.#aggregate()} AS n` };
        });
        return `SELECT ${list.key} AS k, ${list.sums} FROM T AS a ${join} ${other} AS b ON ${this.#equality()} AND ${own} WHERE ${where} GROUP BY ${list.key}`;
      }
    }
  }

  #equality(): string {
    return this.#pick([
      ...['a.i = b.i', 'a.s = b.s', 'a.x = b.x', 'a.id = b.id', 'a.x = b.i', 'a.big = b.big'],
      ...['a.i = b.i AND a.s = b.s', 'a.t = b.t', 'a.s || a.c = b.s || b.c', 'length(a.s) = b.i'],
    ]);
  }

  #over<T>(tables: readonly string[], make: () => T): T {
    const before = this.#tables;
    this.#tables = tables;
    const made = make();
    this.#tables = before;
    return made;
  }

  #column(name: string): string {
    return `${this.#pick(this.#tables)}${name}`;
  }

  #pick<T>(choices: readonly (T | (() => T))[]): T {
    const choice = choices[this.#random.below(choices.length)] as T | (() => T);
    return typeof choice === 'function' ? (choice as () => T)() : choice;
  }

  #aggregate(): string {
    const filter = this.#random.below(4) === 0 ? ` FILTER (WHERE ${this.#condition(1)})` : '';
    const call = this.#pick<string>([
      'count(*)',
      () => `count(${this.#text(1)})`,
      () => `count(DISTINCT ${this.#text(1)})`,
      () => `sum(${this.#summand()})`,
      () => `avg(${this.#column(this.#pick(['i', 'f4']))})`,
      () => `min(${this.#number(1)})`,
      () => `max(${this.#number(1)})`,
      () => `median(${this.#column('i')})`,
    ]);
    return call + filter;
  }

  #summand(): string {
    const [i, s] = [this.#column('i'), this.#column('s')];
    return this.#pick([i, `length(${s})`, this.#column('f4'), `${i} * 2`]);
  }

  #number(depth: number): string {
    const column = (name: string) => () => this.#column(name);
    const leaf = [column('i'), column('x'), column('f4'), '2', '-0.5', '0'];
    if (depth === 0) return this.#pick<string>(leaf);
    const part = () => this.#number(depth - 1);
    return this.#pick<string>([
      ...leaf,
      () => `(${part()} ${this.#pick(['+', '-', '*', '/'])} ${part()})`,
      () => `${this.#pick(['abs', 'floor', 'ceil', 'round', 'sqrt'])}(${part()})`,
      () => `coalesce(${part()}, ${part()})`,
      () => `if(${this.#condition(depth - 1)}, ${part()}, ${part()})`,
      () => `nullif(${part()}, ${part()})`,
      () => `length(${this.#text(depth - 1)})`,
      () => `CASE WHEN ${this.#condition(depth - 1)} THEN ${part()} END`,
    ]);
  }

  #text(depth: number): string {
    const column = (name: string) => () => this.#column(name);
    const leaf = [column('s'), column('c'), "'abc'", "''", "'Äp'"];
    if (depth === 0) return this.#pick<string>(leaf);
    const part = () => this.#text(depth - 1);
    return this.#pick<string>([
      ...leaf,
      () => `(${part()} || ${part()})`,
      () => `reverse(${part()})`,
      () => `left(${part()}, ${1 + this.#random.below(3)})`,
      () => `substring(${part()}, ${1 + this.#random.below(3)}, 2)`,
      () => `replace(${part()}, 'a', '<>')`,
      () => `coalesce(${part()}, ${part()})`,
      () => `CASE WHEN ${this.#condition(depth - 1)} THEN ${part()} ELSE ${part()} END`,
    ]);
  }

  #condition(depth: number): string {
    const compare = () => this.#pick(['=', '!=', '<', '<=', '>', '>=']);
    const leaf = [
      () => `${this.#number(0)} ${compare()} ${this.#number(0)}`,
      () => `${this.#text(0)} ${compare()} ${this.#text(0)}`,
      () => `${this.#column('s')} LIKE '%a%'`,
      () => `${this.#column('x')} IS NULL`,
      () => `${this.#column('s')} IS NOT NULL`,
      () => `${this.#column('t')} < '1999-12-31'`,
      () => `${this.#column('i')} IN (1, 2, 5)`,
      () => `${this.#column('s')} IN ('abc', 'zz', '')`,
      () => `${this.#column('big')} > 0`,
    ];
    if (depth === 0) return this.#pick<string>(leaf);
    const part = () => this.#condition(depth - 1);
    return this.#pick<string>([
      ...leaf,
      () => `(${part()} AND ${part()})`,
      () => `(${part()} OR ${part()})`,
      () => `(NOT (${part()}))`,
      () => `(${this.#number(depth - 1)} ${compare()} ${this.#number(depth - 1)})`,
      () => `(${this.#number(depth - 1)} BETWEEN ${this.#number(0)} AND ${this.#number(0)})`,
      () => `contains(${this.#text(depth - 1)}, 'a')`,
    ]);
  }
}
