import { Type } from 'typebox';
import { compileSelect, type PreparedSelect } from '../exec/prepared-row.ts';
import type { CallContext } from '../plan/function.ts';
import { OPEN_ROW_TYPE } from '../plan/type/type.ts';
import { type EntityReference, entityReference } from '../schema/declare.ts';
import { embeddingAsRow, Row, Scalar, sortedRow, type Value } from '../value/value.ts';
import { type CompiledFunction, type FunctionContext, functionType } from './function-type.ts';

interface StepConfig extends EntityReference {
  readonly with: string;
  readonly extract: string;
}

interface Step {
  readonly with: PreparedSelect;
  readonly extract: PreparedSelect;
  readonly function: CompiledFunction;
}

/** Functions one after the other, each fed from the values known so far. */
export const serialFunction = functionType({
  name: 'serial',
  summary: 'Functions applied one after the other; each step adds what it extracts.',
  parameters: Type.Object({
    steps: Type.Array(
      entityReference(
        'function',
        { description: 'a function, what it is given and what is taken from it' },
        {
          with: Type.String({
            description: 'SELECT list over the values known so far: the input of the step',
            default: '*',
          }),
          extract: Type.String({
            description: 'SELECT list over the output of the step',
            default: '*',
          }),
        },
      ),
      { description: 'steps in order', default: [] },
    ),
  }),
  binding: () => 'use',
  compile(params, scope) {
    const steps = params.steps.map((step) => compileStep(step, scope));
    return {
      input: [OPEN_ROW_TYPE],
      output: OPEN_ROW_TYPE,
      takesAnyValue: false,
      isLight: false,
      apply: (input, callScope) => applySteps(steps, asRow(input), callScope),
    };
  },
});

function compileStep(step: StepConfig, scope: FunctionContext): Step {
  const options = { namespace: scope.namespace, scope: scope.callScope };
  return {
    with: compileSelect(step.with, options),
    extract: compileSelect(step.extract, options),
    function: scope.functionNamed(step.id ?? ''),
  };
}

function applySteps(steps: readonly Step[], input: Row, scope: CallContext): Row {
  let known = input;
  let extracted = new Row([], []);
  for (const step of steps) {
    const given = step.with.apply(known, { scope });
    const output = asRow(step.function.apply(given, scope));
    const taken = step.extract.apply(output, { scope });
    known = override(known, taken);
    extracted = override(extracted, taken);
  }
  return extracted;
}

/** The members of both; those of the second win on equal names. */
function override(first: Row, second: Row): Row {
  const replaced = new Set(second.names);
  const names: string[] = [];
  const values: Value[] = [];
  for (const [index, name] of first.names.entries()) {
    if (replaced.has(name)) continue;
    names.push(name);
    values.push(first.values[index] as Value);
  }
  return sortedRow([...names, ...second.names], [...values, ...second.values]);
}

function asRow(value: Value): Row {
  if (value instanceof Row) return value;
  return value instanceof Scalar ? new Row([], []) : embeddingAsRow(value);
}
