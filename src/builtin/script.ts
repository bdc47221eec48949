// Users' own JavaScript inside a query, and devices.
import type { BoundArgument, CallContext, ValueFunction } from '../plan/function.ts';
import { failure } from '../util/error.ts';
import { laterOf, MINUS_INFINITY, NOT_A_DATE } from '../value/timestamp.ts';
import { effectiveTs, Scalar, type Value, withTimestamp } from '../value/value.ts';
import { family, parameter, variadic } from './declare.ts';

const { value } = family('script');

export const scriptFunctions: readonly ValueFunction[] = [
  value({
    name: 'jseval',
    summary: 'What a JavaScript function body returns, run in a sandbox.',
    parameters: [
      parameter('source', 'constant text: the body of the function'),
      parameter('params', 'constant text: the names of its parameters, separated by commas'),
      variadic('arg', 'the arguments; a row is an array of [path, value, timestamp]'),
    ],
    examples: [["jseval('return val * 2;', 'val', 5)", '10']],
    arityMessage: (count) => `jseval expected at least 2 arguments, got ${count}`,
    volatility: 'volatile',
    nulls: 'handle',
    timestamps: 'own',
    reachesHost: true,
    bind: (args) => {
      const call = bindScript(args);
      return (values, scope) => call([values], scope)[0] as Value;
    },
    bindBatch: bindScript,
  }),
  value({
    name: 'read_sensor',
    summary: 'The latest value of a sensor.',
    parameters: [parameter('id', 'constant text: the name of the sensor')],
    examples: [["try(read_sensor('thermometer'), 'none')", '"none"']],
    volatility: 'volatile',
    timestamps: 'constant',
    bind: ([id]) => {
      const name = constantText(id, 'id');
      return () => {
        // No type of sensor comes with the service, so there is none to be found by any name.
        throw failure('SQL_EXECUTION', `sensor entry '${name}' doesn't exist`);
      };
    },
  }),
];

function bindScript([source, params]: readonly BoundArgument[]) {
  const body = constantText(source, 'source');
  const names = constantText(params, 'params')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return (calls: readonly (readonly Value[])[], scope: CallContext): Value[] => {
    if (scope.host === undefined) {
      throw failure('SQL_EXECUTION', 'jseval is not available here: no script sandbox');
    }
    const inputs = calls.map(([, , ...args]) => args);
    const results = scope.host.callScript(body, names, inputs);
    return results.map((result, index) => timed(result, inputs[index] ?? []));
  };
}

function constantText(argument: BoundArgument | undefined, name: string): string {
  const constant = argument?.constant;
  if (constant instanceof Scalar && typeof constant.atom === 'string') return constant.atom;
  throw failure('SQL_BINDING', `argument ${name} must be a constant string`);
}

/** The latest of the arguments; `undefined` came back as a null that is no date. */
function timed(result: Value, args: readonly Value[]): Value {
  const isUndefined = result instanceof Scalar && result.atom === null && Number.isNaN(result.ts);
  if (isUndefined) return result;
  if (args.length === 0) return withTimestamp(result, MINUS_INFINITY);
  return withTimestamp(
    result,
    args.reduce((ts, arg) => laterOf(ts, effectiveTs(arg)), NOT_A_DATE),
  );
}
