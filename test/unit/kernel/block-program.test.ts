// Programs over blocks of rows beside the same operations row by row.
import { expect, test } from 'vitest';
import {
  ARITHMETIC,
  BLOCK_CHUNK,
  BLOCK_CHUNK_KIND,
  BLOCK_CHUNK_SIZE,
  BLOCK_INSTRUCTION,
  BLOCK_INSTRUCTION_SIZE,
  BLOCK_OP,
  BLOCK_REGISTER_SIZE,
  BLOCK_SLOT_SIZE,
  COMPARE,
} from '../../../src/kernel/generated.ts';
import { codesOf, compareDoubles, type Draw, kernels, put, read, repeat, room } from './support.ts';

type Value = number | undefined;

/** What an operation gave for every row: a number or none, a code, or a truth. */
interface Register {
  readonly kind: 'integers' | 'doubles' | 'codes' | 'truth' | 'counted';
  readonly rows: readonly Value[];
  /** the same in every row: an operand, but no vector */
  readonly isConstant?: boolean;
}

interface Column {
  readonly kind: 'integers' | 'doubles' | 'codes';
  readonly chunks: readonly (readonly Value[])[];
}

const TABLE_SIZE = 6;

function columnOf(draw: Draw, kind: Column['kind'], sizes: readonly number[]): Column {
  const some = (): Value => {
    if (kind === 'codes') return draw.integer(0, TABLE_SIZE - 1);
    if (draw.chance(0.2)) return undefined;
    return kind === 'integers' ? draw.integer(-50, 50) : draw.integer(-50, 50) / 4;
  };
  const chunks = sizes.map((size) => {
    const form = draw.integer(0, 9);
    if (kind === 'codes' || form > 1) return draw.list(size, some);
    const value = form === 0 ? undefined : draw.integer(-9, 9);
    return draw.list(size, () => value);
  });
  return { kind, chunks };
}

/** The descriptor of a chunk: constant or without values where that is so. */
function describeChunk(draw: Draw, kind: Column['kind'], rows: readonly Value[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(BLOCK_CHUNK_SIZE));
  const set = (field: 'kind' | 'width' | 'data' | 'valid', value: number) =>
    bytes.setInt32(BLOCK_CHUNK[field], value, true);
  const [first] = rows;
  if (kind === 'codes') {
    const width = draw.pick([1, 2, 4]);
    set('kind', BLOCK_CHUNK_KIND.codes);
    set('width', width);
    set('data', put(codesOf(width, rows as number[])));
  } else if (rows.every((value) => value === undefined)) set('kind', BLOCK_CHUNK_KIND.nulls);
  else if (rows.every((value) => value === first)) {
    set('kind', BLOCK_CHUNK_KIND.constant);
    bytes.setFloat64(BLOCK_CHUNK.constant, first as number, true);
  } else {
    const values = rows.map((value) => value ?? 0);
    const isInteger = kind === 'integers';
    set('kind', isInteger ? BLOCK_CHUNK_KIND.int32 : BLOCK_CHUNK_KIND.float64);
    set('data', put(isInteger ? Int32Array.from(values) : Float64Array.from(values)));
    if (rows.includes(undefined)) {
      const bits = new Uint8Array(Math.ceil(rows.length / 8));
      for (const [row, value] of rows.entries()) {
        if (value !== undefined) bits[row >> 3] = (bits[row >> 3] as number) | (1 << (row & 7));
      }
      set('valid', put(bits));
    }
  }
  return new Uint8Array(bytes.buffer);
}

const both = (a: Value, b: Value, apply: (a: number, b: number) => number): Value =>
  a === undefined || b === undefined ? undefined : apply(a, b);
const HOLDS: readonly ((sign: number) => boolean)[] = [
  (sign) => sign === 0,
  (sign) => sign !== 0,
  (sign) => sign < 0,
  (sign) => sign <= 0,
  (sign) => sign > 0,
  (sign) => sign >= 0,
];
const OPERATORS = Object.values(COMPARE);
const compared = (operator: number, a: Value, b: Value): number => {
  if (a === undefined || b === undefined) return 1;
  return HOLDS[operator]?.(compareDoubles(a, b)) ? 2 : 0;
};

/** Builds a program and works out beside it what each register holds. */
class Program {
  readonly registers: Register[] = [];
  readonly #bytes: number[] = [];
  readonly #rowCount: number;

  constructor(rowCount: number) {
    this.#rowCount = rowCount;
  }

  get address(): number {
    return put(Uint8Array.from(this.#bytes));
  }

  get size(): number {
    return this.#bytes.length;
  }

  /** @returns the number of the register */
  add(
    op: keyof typeof BLOCK_OP,
    operands: { a?: number; b?: number; c?: number; d?: number },
    kind: Register['kind'],
    rowOf: (row: number) => Value,
    constant?: { kind: 'integers' | 'doubles'; value: number },
  ): number {
    const target = this.registers.length;
    const bytes = new DataView(new ArrayBuffer(BLOCK_INSTRUCTION_SIZE));
    const words = { ...operands, op: BLOCK_OP[op], target };
    for (const [field, value] of Object.entries(words)) {
      bytes.setInt32(BLOCK_INSTRUCTION[field as keyof typeof words], value, true);
    }
    for (let at = BLOCK_INSTRUCTION.low; constant && at < BLOCK_INSTRUCTION_SIZE; ) {
      if (constant.kind === 'integers') bytes.setInt32(at, constant.value, true);
      else bytes.setFloat64(at, constant.value, true);
      at += constant.kind === 'integers' ? 4 : 8;
    }
    this.#bytes.push(...new Uint8Array(bytes.buffer));
    const rows = Array.from({ length: this.#rowCount }, (_, row) => rowOf(row));
    this.registers.push({ kind, rows, ...(constant ? { isConstant: true } : {}) });
    return target;
  }

  row(register: number, row: number): Value {
    return this.registers[register]?.rows[row];
  }

  /** A register of a kind that is a vector. */
  pick(draw: Draw, kind: Register['kind']): number {
    const found = [...this.registers.keys()].filter((register) => {
      const each = this.registers[register] as Register;
      return each.kind === kind && each.isConstant !== true;
    });
    return draw.pick(found);
  }
}

/** Adds an operation on registers that are there. */
function addOperation(draw: Draw, program: Program): void {
  const of = (register: number) => (row: number) => program.row(register, row);
  const [integers, doubles, codes, truth] = (
    ['integers', 'doubles', 'codes', 'truth'] as const
  ).map((kind) => program.pick(draw, kind)) as [number, number, number, number];
  const c = draw.pick(OPERATORS);
  switch (draw.integer(0, 13)) {
    case 0: {
      const b = program.pick(draw, 'integers');
      const isLarge = (value: Value) => Math.abs(value ?? 0) > 1e5;
      if ([integers, b].some((each) => program.registers[each]?.rows.some(isLarge))) return;
      const operator = draw.pick([ARITHMETIC.add, ARITHMETIC.subtract]);
      const sign = operator === ARITHMETIC.add ? 1 : -1;
      const rowOf = (row: number) => both(of(integers)(row), of(b)(row), (x, y) => x + sign * y);
      program.add('arithmeticIntegers', { a: integers, b, c: operator }, 'integers', rowOf);
      return;
    }
    case 1: {
      const value = draw.integer(1, 8) / 4;
      const constant = { kind: 'doubles', value } as const;
      const b = program.add('constant', {}, 'doubles', () => value, constant);
      const rowOf = (row: number) => both(of(doubles)(row), value, (x, y) => x * y + 0);
      program.add('arithmeticDoubles', { a: doubles, b, c: ARITHMETIC.multiply }, 'doubles', rowOf);
      return;
    }
    case 2:
      program.add('convert', { a: integers }, 'doubles', of(integers));
      return;
    case 3: {
      const d = draw.integer(-20, 20);
      const rowOf = (row: number) => compared(c, of(integers)(row), d);
      program.add('compareIntegers', { a: integers, c, d }, 'truth', rowOf);
      return;
    }
    case 4: {
      const b = program.pick(draw, 'doubles');
      const rowOf = (row: number) => compared(c, of(doubles)(row), of(b)(row));
      program.add('compareDoubles', { a: doubles, b, c }, 'truth', rowOf);
      return;
    }
    case 5: {
      const table = draw.truth(TABLE_SIZE);
      const rowOf = (row: number) => table[of(codes)(row) as number];
      program.add('tableTruth', { a: codes, b: put(table) }, 'truth', rowOf);
      return;
    }
    case 6: {
      const [table, valid] = [draw.integers(TABLE_SIZE, -9, 9), draw.valid(TABLE_SIZE)];
      const operands = { a: codes, b: put(table), c: put(valid) };
      const rowOf = (row: number) => {
        const code = of(codes)(row) as number;
        return valid[code] === 1 ? table[code] : undefined;
      };
      program.add('tableIntegers', operands, 'integers', rowOf);
      const others = { ...operands, b: put(Float64Array.from(table)) };
      program.add('tableDoubles', others, 'doubles', rowOf);
      return;
    }
    case 7: {
      const table = draw.integers(TABLE_SIZE, 0, TABLE_SIZE - 1);
      const rowOf = (row: number) => table[of(codes)(row) as number];
      program.add('tableCodes', { a: codes, b: put(table) }, 'codes', rowOf);
      return;
    }
    case 8: {
      const rowOf = (row: number) => {
        const value = of(integers)(row);
        return value === undefined || value < -2 || value > 2 ? 0 : value + 3;
      };
      program.add('rangeCodes', { a: integers, c: -2, d: TABLE_SIZE }, 'codes', rowOf);
      return;
    }
    case 9: {
      const b = program.pick(draw, 'truth');
      const [isAnd, pair] = [draw.chance(0.5), { a: truth, b }];
      const rowOf = (row: number) =>
        both(of(truth)(row), of(b)(row), (x, y) => (isAnd ? Math.min(x, y) : Math.max(x, y)));
      program.add(isAnd ? 'and' : 'or', pair, 'truth', rowOf);
      return;
    }
    case 10:
      program.add('not', { a: truth }, 'truth', (row) => 2 - (of(truth)(row) as number));
      return;
    case 11: {
      const rowOf = (row: number) => (of(doubles)(row) === undefined ? 2 : 0);
      program.add('missing', { a: doubles, c: 2, d: 0 }, 'truth', rowOf);
      return;
    }
    case 12: {
      const always = draw.integer(0, 2);
      program.add('always', { c: always }, 'truth', () => always);
      return;
    }
    default: {
      const b = program.pick(draw, 'doubles');
      const rowOf = (row: number) => (of(truth)(row) === 2 ? of(doubles)(row) : of(b)(row));
      program.add('choose', { a: doubles, b, c: truth }, 'doubles', rowOf);
    }
  }
}

test('runBlocks gives the sums, counts and extremes of the rows one by one', () => {
  repeat((draw) => {
    const sizes = draw.list(draw.integer(1, 3), () => draw.pick([0, 1, 17, 1024, 1100]));
    const rowCount = sizes.reduce((total, size) => total + size, 0);
    const columns = (['integers', 'doubles', 'codes', 'integers'] as const).map((kind) =>
      columnOf(draw, kind, sizes),
    );
    const program = new Program(rowCount);
    const loads = { integers: 'loadIntegers', doubles: 'loadDoubles', codes: 'loadCodes' } as const;
    for (const [a, { kind, chunks }] of columns.entries()) {
      const rows = chunks.flat();
      program.add(loads[kind], { a }, kind, (row) => rows[row]);
    }
    program.add('always', { c: 2 }, 'truth', () => 2);
    for (let i = draw.integer(0, 20); i > 0; i--) addOperation(draw, program);
    const [cells, checks]: [number[], ((at: number) => void)[]] = [[], []];
    const sumKinds = [
      'addIntegers',
      'addExactIntegers',
      'addSmallIntegers',
      'addExactSmallIntegers',
    ] as const;
    for (let i = 0; i < 4; i++) {
      const measure = draw.pick([
        ...sumKinds,
        'addRows',
        'addDoubles',
        'addLeast',
        'addGreatest',
      ] as const);
      const isInteger = (sumKinds as readonly string[]).includes(measure);
      const values = program.pick(draw, isInteger ? 'integers' : 'doubles');
      const truth = draw.chance(0.3) ? -1 : program.pick(draw, 'truth');
      const counts = (row: number) =>
        (truth < 0 || program.row(truth, row) === 2) && program.row(values, row) !== undefined;
      const counted = program.add('counted', { a: truth, b: values }, 'counted', (row) =>
        counts(row) ? 2 : 0,
      );
      const cell = i * 16;
      program.add(measure, { a: counted, b: values, c: cell }, 'counted', () => undefined);
      cells.push(cell);
      const mine = Array.from({ length: rowCount }, (_, row) => row).filter(counts);
      const numbers = mine.map((row) => program.row(values, row) as number);
      checks.push((at) => {
        expect(read(BigInt64Array, at + cell, 1)[0]).toBe(BigInt(numbers.length));
        if (measure === 'addRows' || numbers.length === 0) return;
        const total = numbers.reduce((sum, value) => sum + value, 0);
        if (measure.startsWith('addExact')) {
          expect(read(BigInt64Array, at + cell + 8, 1)[0]).toBe(BigInt(total));
          return;
        }
        const found = read(Float64Array, at + cell + 8, 1)[0] as number;
        if (measure === 'addLeast') expect(found + 0).toBe(Math.min(...numbers) + 0);
        else if (measure === 'addGreatest') expect(found + 0).toBe(Math.max(...numbers) + 0);
        else expect(found).toBeCloseTo(total, 3);
      });
    }
    const chunks = columns.flatMap(({ kind, chunks }) =>
      chunks.flatMap((rows) => [...describeChunk(draw, kind, rows)]),
    );
    const registerCount = program.registers.length;
    const [address, out] = [program.address, put(new Uint8Array(64))];
    kernels.runBlocks(
      ...([address, address + program.size] as const),
      ...([
        room(registerCount * BLOCK_REGISTER_SIZE),
        room(registerCount * BLOCK_SLOT_SIZE),
      ] as const),
      ...([put(Uint8Array.from(chunks)), sizes.length, put(Int32Array.from(sizes))] as const),
      ...([0, sizes.length, out] as const),
    );
    for (const check of checks) check(out);
  });
});
