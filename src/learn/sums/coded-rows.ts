// Rows by their codes, where only sums over them can be had: codes as terms, histograms of nodes.
import {
  boundariesOf,
  CATEGORIES_PER_COLUMN,
  codeCountOf,
  columnCountOf,
  type Feature,
  MISSING_CODE,
  OTHER_CODE,
} from '../feature/feature.ts';
import type { CodeColumn } from '../tree/ensemble.ts';
import { type Aggregate, type Group, type Sums, SumsRefused } from './sums.ts';
import {
  type Choice,
  choose,
  columnOf,
  compare,
  constant,
  missing,
  plus,
  shared,
  type Term,
  type Test,
} from './term.ts';

export interface CodedColumn extends CodeColumn {
  /** highest code + 1 */
  readonly codeCount: number;
}

/** Nodes of one request at most, as servers read long expressions slowly. */
const NODE_COUNT_MAX = 512;
/** Columns of one request at most, for the same reason. */
const COLUMN_COUNT_MAX = 16;

/** Where the rows of a node are: tests of codes from the root on. */
export type NodePath =
  /** the position of a node that is asked for, or -1; or what else is found there */
  | { readonly kind: 'end'; readonly value: number }
  | {
      readonly kind: 'fork';
      readonly choices: readonly PathChoice[];
      readonly otherwise: NodePath;
    };

export interface PathChoice {
  readonly column: number;
  readonly codes: CodeTest;
  readonly path: NodePath;
}

/** 1 for each code that passes. */
export type CodeTest = Uint8Array;

export interface HistogramRequest {
  readonly sums: Sums;
  readonly path: NodePath;
  readonly nodeCount: number;
  readonly rowCount: number;
  /** positions of the columns */
  readonly columns: readonly number[];
  /** further keys, and values, over the codes and `rest` */
  readonly keys: readonly Term[];
  /** tuples of the further keys at most */
  readonly tupleCount: number;
  readonly values: readonly Aggregate[];
  /** terms that keys and values name as shared(restFrom + index) */
  readonly rest: readonly Term[];
}

/** The columns of codes that features make, of rows that are elsewhere. */
export class CodedRows {
  readonly columns: readonly CodedColumn[];
  readonly #features: readonly Feature[];
  /** what stands before the rest among the shared terms of a request */
  readonly #codes: readonly Term[];

  constructor(features: readonly Feature[]) {
    const columns: CodedColumn[] = [];
    const codes: Term[] = [];
    for (const [feature, each] of features.entries()) {
      for (let part = 0; part < columnCountOf(each); part++) {
        columns.push({ feature, part, codeCount: codeCountOf(each, part) });
        codes.push(codeTerm(each, feature, part));
      }
    }
    this.columns = columns;
    this.#features = features;
    this.#codes = codes;
  }

  /** Where the rest begins. */
  get restFrom(): number {
    return this.#codes.length;
  }

  code(column: number): Term {
    return shared(column);
  }

  /** Groups of rows by node: its position is the first key, -1 where rows are in no open node. */
  nodes(
    request: Pick<HistogramRequest, 'sums' | 'path' | 'keys' | 'values' | 'rest'>,
  ): readonly Group[] {
    const { sums, path, keys, values, rest } = request;
    return sums.groups({
      shared: [...this.#codes, ...rest, this.pathTerm(path)],
      keys: [shared(this.restFrom + rest.length), ...keys],
      values,
    });
  }

  /** Visits the groups of the rows of each node by the code of each column. */
  histograms(
    request: HistogramRequest,
    visit: (node: number, column: number, code: number, group: Group) => void,
  ): void {
    const { sums, path, keys, values, rest } = request;
    for (const own of this.#parts(request)) {
      const offsets: number[] = [];
      const cells: { readonly column: number; readonly code: number }[] = [];
      for (const column of own) {
        offsets.push(cells.length);
        const { codeCount } = this.columns[column] as CodedColumn;
        for (let code = 0; code < codeCount; code++) cells.push({ column, code });
      }
      const each = own.map((column, index) =>
        plus(this.code(column), constant(offsets[index] as number)),
      );
      const groups = sums.groups({
        shared: [...this.#codes, ...rest, this.pathTerm(path)],
        keys: [{ kind: 'each', terms: each }, shared(this.restFrom + rest.length), ...keys],
        values,
      });
      for (const group of groups) {
        const position = Number(group.keys[1]);
        if (position < 0) continue;
        const { column, code } = cells[Number(group.keys[0])] as (typeof cells)[number];
        visit(position, column, code, group);
      }
    }
  }

  /** Columns in parts, each for one request: its groups are as many as an answer may have. */
  #parts({ columns, nodeCount, rowCount, sums, tupleCount }: HistogramRequest): number[][] {
    const parts: number[][] = [];
    let room = 0;
    for (const column of columns) {
      const { codeCount } = this.columns[column] as CodedColumn;
      const groupCount = Math.min(rowCount, (nodeCount + 1) * codeCount * tupleCount);
      const last = parts.at(-1);
      if (last === undefined || last.length === COLUMN_COUNT_MAX || groupCount > room) {
        parts.push([column]);
        room = sums.groupCountMax - groupCount;
      } else {
        last.push(column);
        room -= groupCount;
      }
    }
    return parts;
  }

  /** What is found at the end of the path. */
  pathTerm(path: NodePath): Term {
    if (path.kind === 'end') return constant(path.value);
    const choices = path.choices.map(({ column, codes, path: next }) => ({
      test: this.test(column, codes),
      value: this.pathTerm(next),
    }));
    return choose(choices, this.pathTerm(path.otherwise));
  }

  /** Whether the code of a column is among some. */
  test(column: number, codes: CodeTest): Test {
    const { codeCount, feature: index, part } = this.columns[column] as CodedColumn;
    const feature = this.#features[index] as Feature;
    const code = this.code(column);
    const isAll = codes.subarray(1, codeCount).every((isIn) => isIn === 1);
    if (feature.kind !== 'numeric' || (isAll && feature.hasMissing)) {
      return codeTest(codes, codeCount, 0, (operator, at) => compare(operator, code, constant(at)));
    }
    // The number itself, which servers have at hand; what is missing passes no bound.
    const x = columnOf(index);
    const boundaries = boundariesOf(feature, part);
    const inRange = codeTest(codes, codeCount, 1, (operator, at) =>
      compare(operator, x, constant(boundaries[at - 2] as number)),
    );
    if (!feature.hasMissing || codes[0] !== 1) return inRange;
    return { kind: 'any', tests: [missing(x), inRange] };
  }

  /** @throws SumsRefused when nodes are more than one request names */
  static checkNodeCount(count: number): void {
    if (count <= NODE_COUNT_MAX) return;
    throw new SumsRefused(`more than ${NODE_COUNT_MAX} nodes are open at a time`);
  }
}

/**
 * Codes from `least` on as runs of neighbours.
 * @param bound whether a code is at least one that is above `least`, or below one
 */
function codeTest(
  isIn: CodeTest,
  codeCount: number,
  least: number,
  bound: (operator: '>=' | '<', code: number) => Test,
): Test {
  const runs: Test[] = [];
  for (let from = least; from < codeCount; from++) {
    if (isIn[from] !== 1) continue;
    let to = from + 1;
    while (to < codeCount && isIn[to] === 1) to++;
    const bounds: Test[] = [];
    if (from > least) bounds.push(bound('>=', from));
    if (to < codeCount) bounds.push(bound('<', to));
    if (bounds.length === 0) return compare('=', constant(1), constant(1));
    runs.push(bounds.length === 1 ? (bounds[0] as Test) : { kind: 'all', tests: bounds });
    from = to;
  }
  if (runs.length === 0) return compare('=', constant(0), constant(1));
  return runs.length === 1 ? (runs[0] as Test) : { kind: 'any', tests: runs };
}

/** A table of constants, which systems look up. */
function codeTerm(feature: Feature, index: number, part: number): Term {
  const x = columnOf(index);
  const none = { test: missing(x), value: constant(MISSING_CODE) };
  if (feature.kind === 'unused') return constant(MISSING_CODE);
  if (feature.kind === 'numeric') {
    const boundaries = boundariesOf(feature, part);
    const below = Array.from(
      boundaries,
      (bound, i): Choice => ({ test: compare('<', x, constant(bound)), value: constant(i + 1) }),
    );
    return choose([none, ...below], constant(boundaries.length + 1));
  }
  const { buckets, categories, coding } = feature;
  const from = part * CATEGORIES_PER_COLUMN;
  const own = coding === 'rank' ? categories : categories.slice(from, from + CATEGORIES_PER_COLUMN);
  const equal = own.map(
    (category, i): Choice => ({
      test: compare('=', x, constant(category)),
      value: constant(coding === 'rank' ? (buckets[i] as number) : i + 1),
    }),
  );
  return choose([none, ...equal], constant(coding === 'rank' ? MISSING_CODE : OTHER_CODE));
}
