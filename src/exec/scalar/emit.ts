// Scalar expressions to JavaScript source over plain atoms: no rows, no timestamps.
//
// Every sub-expression becomes a local variable that holds an atom. Operators test for the usual
// case (two numbers, two strings) and leave the rest to the helpers, which are the operators of the
// language themselves: the source is faster, never different. Constants and functions are passed in
// beside it, so that queries that differ only in constants share one compiled function.
import { likeMatcher, likeText } from '../../builtin/operator/like.ts';
import type { BoundExpression, CaseExpression } from '../../plan/expression.ts';
import type { FunctionNamespace } from '../../plan/function.ts';
import type { IsTest } from '../../sql/node.ts';
import type { Atom } from '../../value/atom.ts';
import { keyOfAtom } from '../../value/canonical-key.ts';
import { atomText } from '../../value/text.ts';
import { Timestamp } from '../../value/timestamp.ts';
import { Scalar } from '../../value/value.ts';
import { atomCall } from '../general/call/atom-call.ts';

export interface ScalarSource {
  /** the body of `(h, k) => (c) => atom`: helpers, constants, and the atoms of the columns */
  readonly source: string;
  readonly constants: readonly unknown[];
  /** the columns whose atoms `c` holds */
  readonly columns: readonly (readonly string[])[];
}

/** The source of an expression; undefined when some part of it needs rows, timestamps or scope. */
export function emitScalar(
  expression: BoundExpression,
  builtins: FunctionNamespace,
): ScalarSource | undefined {
  const emitter = new Emitter(builtins);
  try {
    const result = emitter.emit(expression);
    return { source: `${emitter.text}return ${result};`, ...emitter.inputs };
  } catch (error) {
    if (error === NOT_SCALAR) return undefined;
    throw error;
  }
}

/** Thrown inside the emitter and caught above: most expressions are found out at a leaf. */
const NOT_SCALAR = Symbol('not scalar');

class Emitter {
  text = '';
  readonly #builtins: FunctionNamespace;
  readonly #constants: unknown[] = [];
  readonly #columns = new Map<string, { path: readonly string[]; variable: string }>();
  #variableCount = 0;

  constructor(builtins: FunctionNamespace) {
    this.#builtins = builtins;
  }

  get inputs(): Pick<ScalarSource, 'constants' | 'columns'> {
    return {
      constants: this.#constants,
      columns: [...this.#columns.values()].map(({ path }) => path),
    };
  }

  /** Appends the statements of an expression; returns the variable or literal of its atom. */
  emit(expression: BoundExpression): string {
    switch (expression.kind) {
      case 'constant':
        if (!(expression.value instanceof Scalar)) throw NOT_SCALAR;
        return this.#literal(expression.value.atom);
      case 'column':
        return this.#column(expression.path);
      case 'arithmetic': {
        const a = this.emit(expression.left);
        const b = this.emit(expression.right);
        const helper = `h.arithmetic[${JSON.stringify(expression.operator)}](${a}, ${b})`;
        return this.#assign(FAST_ARITHMETIC[expression.operator]?.(a, b, helper) ?? helper);
      }
      case 'comparison': {
        const a = this.emit(expression.left);
        const b = this.emit(expression.right);
        return this.#assign(COMPARISON[expression.operator](a, b));
      }
      case 'and':
      case 'or':
        return expression.operands
          .map((operand) => this.emit(operand))
          .reduce((a, b) => this.#assign(`h.${expression.kind}(${a}, ${b})`));
      case 'unary':
        return this.#unary(expression.operator, this.emit(expression.operand));
      case 'is': {
        const test = IS_TEST[expression.test](this.emit(expression.operand));
        return this.#assign(`${test} ? ${expression.negated ? '0 : 1' : '1 : 0'}`);
      }
      case 'between': {
        const operands = [expression.operand, expression.low, expression.high];
        const atoms = operands.map((operand) => this.emit(operand)).join(', ');
        return this.#negated(`h.between(${atoms})`, expression.negated);
      }
      case 'in-list':
        return this.#inList(expression.operand, expression.choices, expression.negated);
      case 'like': {
        const text = this.emit(expression.operand);
        return this.#negated(this.#like(text, expression.pattern), expression.negated);
      }
      case 'case':
        return this.#case(expression);
      case 'cast':
        return this.#assign(
          `h.cast(${this.emit(expression.operand)}, ${JSON.stringify(expression.target)})`,
        );
      case 'call':
        return this.#call(expression.name, expression.args);
      default:
        throw NOT_SCALAR;
    }
  }

  #assign(value: string): string {
    const variable = this.#variable();
    this.text += `const ${variable} = ${value};\n`;
    return variable;
  }

  #variable(): string {
    return `v${this.#variableCount++}`;
  }

  /** Numbers and null are written into the source; whatever has identity is passed in. */
  #literal(atom: Atom): string {
    if (atom === null) return 'null';
    if (typeof atom === 'number' && Number.isFinite(atom))
      return atom < 0 ? `(${atom})` : `${atom}`;
    return this.#constant(atom);
  }

  #constant(value: unknown): string {
    return `k[${this.#constants.push(value) - 1}]`;
  }

  #column(path: readonly string[]): string {
    const key = JSON.stringify(path);
    const known = this.#columns.get(key);
    if (known !== undefined) return known.variable;
    const variable = `c[${this.#columns.size}]`;
    this.#columns.set(key, { path, variable });
    return variable;
  }

  #unary(operator: string, operand: string): string {
    switch (operator) {
      case '+':
        return operand;
      case 'not':
        return this.#assign(`${operand} === null ? null : h.isTrue(${operand}) ? 0 : 1`);
      case 'timestamp':
        return this.#assign(`h.cast(${operand}, "timestamp")`);
      default:
        return this.#assign(`h.prefix[${JSON.stringify(operator)}](${operand})`);
    }
  }

  #negated(truth: string, negated: boolean): string {
    const variable = this.#assign(truth);
    return negated ? this.#assign(`${variable} === null ? null : 1 - ${variable}`) : variable;
  }

  #inList(operand: BoundExpression, choices: readonly BoundExpression[], negated: boolean): string {
    const value = this.emit(operand);
    const atoms = choices.map((choice) => {
      if (choice.kind !== 'constant' || !(choice.value instanceof Scalar)) throw NOT_SCALAR;
      return choice.value.atom;
    });
    // A text among the choices may be a time, and the other way round.
    const [first] = atoms.filter((atom) => atom !== null);
    const isTyped = operand.type.kind === 'atom' && operand.type.atom !== 'atom';
    const isMixed = typeof first === 'string' || first instanceof Timestamp;
    if (!isTyped && isMixed) throw NOT_SCALAR;
    const keys = new Set(atoms.filter((atom) => atom !== null).map(keyOfAtom));
    const found = `${value} === null ? null : ${this.#constant(keys)}.has(h.key(${value})) ? 1 : 0`;
    return this.#negated(found, negated);
  }

  #like(text: string, pattern: BoundExpression): string {
    const constant = pattern.kind === 'constant' ? pattern.value : undefined;
    if (!(constant instanceof Scalar) || constant.atom === null) {
      return `h.like(${text}, ${this.emit(pattern)})`;
    }
    const matcher = likeMatcher(atomText(constant.atom));
    const match = (atom: Atom) => {
      const matches = likeText(atom, matcher);
      return matches === null ? null : Number(matches);
    };
    return `${this.#constant(match)}(${text})`;
  }

  /** Branches are evaluated only when they are taken. */
  #case(expression: CaseExpression): string {
    if (expression.emptyRow) throw NOT_SCALAR;
    const operand = expression.operand === undefined ? undefined : this.emit(expression.operand);
    const result = this.#variable();
    this.text += `let ${result} = null;\n`;
    const choose = (branch: BoundExpression) => {
      const atom = this.emit(branch);
      this.text += `${result} = ${atom};\n`;
    };
    for (const { when, result: branch } of expression.branches) {
      const condition = this.emit(when);
      const test =
        operand === undefined
          ? `h.isTrue(${condition})`
          : `${operand} !== null && ${condition} !== null && h.order(${operand}, ${condition}) === 0`;
      this.text += `if (${test}) {\n`;
      choose(branch);
      this.text += '} else {\n';
    }
    if (expression.otherwise !== undefined) choose(expression.otherwise);
    this.text += '}\n'.repeat(expression.branches.length);
    return result;
  }

  #call(name: string, args: readonly BoundExpression[]): string {
    const declaration = this.#builtins.findFunction(name);
    if (declaration?.kind !== 'scalar') throw NOT_SCALAR;
    const call = atomCall(declaration, args);
    const atoms = args.map((arg) => this.emit(arg));
    const invoke = `${this.#constant(call)}(${atoms.join(', ')})`;
    const nulls = atoms.map((atom) => `${atom} === null`).join(' || ');
    const propagates = declaration.nulls === 'propagate' && atoms.length > 0;
    return this.#assign(propagates ? `${nulls} ? null : ${invoke}` : invoke);
  }
}

function bothNumbers(a: string, b: string): string {
  return `typeof ${a} === "number" && typeof ${b} === "number"`;
}

type EmitPair = (a: string, b: string) => string;

/** `+ 0` turns the negative zero, which no atom is, into zero. */
const FAST_ARITHMETIC: Readonly<
  Record<string, ((a: string, b: string, helper: string) => string) | undefined>
> = {
  '+': (a, b, helper) => `${bothNumbers(a, b)} ? ${a} + ${b} + 0 : ${helper}`,
  '-': (a, b, helper) => `${bothNumbers(a, b)} ? ${a} - ${b} + 0 : ${helper}`,
  '*': (a, b, helper) => `${bothNumbers(a, b)} ? ${a} * ${b} + 0 : ${helper}`,
  '/': (a, b, helper) => `${bothNumbers(a, b)} ? ${a} / ${b} + 0 : ${helper}`,
};

/** NaN is equal to itself and below every other number: the helper knows. */
const COMPARISON: Readonly<Record<'=' | '!=' | '<' | '<=' | '>' | '>=', EmitPair>> = {
  '=': equality('1', 'equal'),
  '!=': equality('0', 'unequal'),
  '<': inequality('<', '>='),
  '<=': inequality('<=', '>'),
  '>': inequality('>', '<='),
  '>=': inequality('>=', '<'),
};

function equality(same: string, helper: string): EmitPair {
  return (a, b) =>
    `${a} === null || ${b} === null ? null : ${a} === ${b} ? ${same} : h.${helper}(${a}, ${b})`;
}

function inequality(holds: string, fails: string): EmitPair {
  return (a, b) =>
    `${a} === null || ${b} === null ? null : ${bothNumbers(a, b)} && ${a} ${holds} ${b} ? 1 : ` +
    `${bothNumbers(a, b)} && ${a} ${fails} ${b} ? 0 : h.order(${a}, ${b}) ${holds} 0 ? 1 : ` +
    `h.order(${a}, ${b}) ${fails} 0 ? 0 : null`;
}

const IS_TEST: Readonly<Record<IsTest, (atom: string) => string>> = {
  null: (atom) => `${atom} === null`,
  true: (atom) => `h.isTrue(${atom})`,
  false: (atom) => `h.isFalse(${atom})`,
  string: (atom) => `typeof ${atom} === "string"`,
  number: (atom) => `(typeof ${atom} === "number" || typeof ${atom} === "bigint")`,
  integer: (atom) => `h.isInteger(${atom})`,
  timestamp: (atom) => `h.isTimestamp(${atom})`,
  interval: (atom) => `h.isInterval(${atom})`,
};
