// Circular and hyperbolic functions, in radians. Out of their domain they are NaN.
import type { FunctionExample, ScalarFunction } from '../plan/function.ts';
import { numberAtom, requireDouble } from './conversion.ts';
import { family, NUMBER_TYPE, parameter } from './declare.ts';
import { numericMap } from './numeric.ts';

const trigonometric = family('trigonometric', { isLinear: true });

type MathName =
  | 'sin'
  | 'cos'
  | 'tan'
  | 'asin'
  | 'acos'
  | 'atan'
  | 'sinh'
  | 'cosh'
  | 'tanh'
  | 'asinh'
  | 'acosh'
  | 'atanh';

function map(name: MathName, summary: string, ...examples: FunctionExample[]): ScalarFunction {
  const emit = (x: string): string => `(Math.${name}(${x}) + 0)`;
  return numericMap(trigonometric, { name, summary, examples, apply: Math[name], emit });
}

export const trigonometricFunctions: readonly ScalarFunction[] = [
  map('sin', 'Sine of an angle in radians.', ['sin(pi() / 2)', '1']),
  map('cos', 'Cosine of an angle in radians.', ['cos(0)', '1']),
  map('tan', 'Tangent of an angle in radians.', ['tan(0)', '0']),
  map('asin', 'Inverse sine, in radians.', ['asin(0)', '0']),
  map('acos', 'Inverse cosine, in radians.', ['acos(1)', '0'], ['acos(2)', '{"num":"NaN"}']),
  map('atan', 'Inverse tangent, in radians.', ['atan(0)', '0']),
  map('sinh', 'Hyperbolic sine.', ['sinh(0)', '0']),
  map('cosh', 'Hyperbolic cosine.', ['cosh(0)', '1']),
  map('tanh', 'Hyperbolic tangent.', ['tanh(0)', '0']),
  map('asinh', 'Inverse hyperbolic sine.', ['asinh(0)', '0']),
  map('acosh', 'Inverse hyperbolic cosine.', ['acosh(1)', '0'], ['acosh(0.5)', '{"num":"NaN"}']),
  map('atanh', 'Inverse hyperbolic tangent.', ['atanh(1)', '{"num":"Inf"}']),
  trigonometric.scalar({
    name: 'atan2',
    summary: 'The angle of the point (x, y), in radians; the ordinate comes first.',
    parameters: [parameter('y', 'the ordinate'), parameter('x', 'the abscissa')],
    examples: [
      ['atan2(1, 0)', '1.5707963267948966'],
      ['atan2(0, -1)', '3.141592653589793'],
    ],
    result: NUMBER_TYPE,
    elementwise: 'both',
    evaluate: (y = null, x = null) => numberAtom(Math.atan2(requireDouble(y), requireDouble(x))),
  }),
];
