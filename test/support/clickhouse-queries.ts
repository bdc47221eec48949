// Random queries over the tables of ClickHouse that tests have.
import { Random } from '../../src/learn/random.ts';

/** Expressions and queries over the columns of the tables; sums stay far from where they would round. */
export class RandomQueries {
  readonly #random: Random;

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
      () => `sum(${this.#pick(['i', 'length(s)', 'f4', 'i * 2'])})`,
      () => `avg(${this.#pick(['i', 'f4'])})`,
      () => `min(${this.#number(1)})`,
      () => `max(${this.#number(1)})`,
      () => 'median(i)',
    ]);
    return call + filter;
  }

  #number(depth: number): string {
    const leaf = ['i', 'x', 'f4', '2', '-0.5', '0'];
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
    const leaf = ['s', 'c', "'abc'", "''", "'Äp'"];
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
      "s LIKE '%a%'",
      'x IS NULL',
      's IS NOT NULL',
      "t < '1999-12-31'",
      'i IN (1, 2, 5)',
      "s IN ('abc', 'zz', '')",
      'big > 0',
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
