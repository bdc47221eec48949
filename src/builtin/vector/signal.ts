// Signal processing: Fourier transforms and what they are made of.
import type { FunctionDeclaration, ValueFunction } from '../../plan/function.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { MINUS_INFINITY } from '../../value/timestamp.ts';
import { Embedding, type Value } from '../../value/value.ts';
import {
  numberAtom,
  requireAtom,
  requireDouble,
  requireText,
  requireUnsigned,
} from '../conversion.ts';
import { family, optional, parameter, VECTOR_TYPE } from '../declare.ts';
import { makeSignal, type Signal, transform } from './fourier.ts';
import { elementCount, embeddingOf, shapeOf } from './shape.ts';

const { value } = family('signal');

/** Lengths are multiples of this, as the vectorised transforms of old required. */
const SIZE_UNIT = 32;

const COMPLEX = parameter('z', 'an n x 2 embedding of real and imaginary parts');

export const signalFunctions: readonly FunctionDeclaration[] = [
  value({
    name: 'fft',
    summary:
      'The discrete Fourier transform. Of n real numbers: n/2 complex ones, the first holding the two real ends of the spectrum.',
    parameters: [
      parameter('x', 'a real vector or an n x 2 embedding; a multiple of 32 elements'),
      optional('direction', "'forward' (default) or 'backward', which is scaled so as to invert"),
      optional('type', "'real' (default) or 'complex'"),
    ],
    examples: [
      ["print_json(shape(fft(impulse(32), 'forward')))", '"[16,2]"'],
      ["fft(fft(impulse(32)), 'backward') = impulse(32)", '1'],
    ],
    timestamps: 'first',
    result: { kind: 'embedding', element: 'number' },
    evaluate: ([x, direction, type]) => fft(x as Value, textOf(direction), textOf(type)),
  }),
  sqlDefined({
    name: 'impulse',
    summary: 'A vector of a one followed by n-1 zeros.',
    parameters: [parameter('n', 'the number of elements')],
    examples: [['print_json(impulse(4))', '"[1,0,0,0]"']],
    result: VECTOR_TYPE,
    evaluate: ([n]) => impulse(n, 0),
  }),
  sqlDefined({
    name: 'shifted_impulse',
    summary: 'A vector of n zeros but for a one at an index.',
    parameters: [
      parameter('n', 'the number of elements'),
      parameter('e', 'the index of the one, from 0'),
    ],
    examples: [['print_json(shifted_impulse(4, 2))', '"[0,0,1,0]"']],
    result: VECTOR_TYPE,
    evaluate: ([n, e]) => impulse(n, requireUnsigned(requireAtom(e))),
  }),
  complexPart('real', 'The real parts of a complex vector.', '"[3]"', (re) => re),
  complexPart('imag', 'The imaginary parts of a complex vector.', '"[4]"', (_re, im) => im),
  complexPart('amplitude', 'The absolute values of a complex vector.', '"[5]"', Math.hypot),
  complexPart(
    'phase',
    'The angles of a complex vector, in radians.',
    '"[0.9272952180016122]"',
    (re, im) => Math.atan2(im, re),
  ),
];

/** Functions that once were defined in SQL have their own message about arguments. */
function sqlDefined(options: Parameters<typeof value>[0]): ValueFunction {
  const { name, parameters } = options;
  return value({
    ...options,
    arityMessage: (count) =>
      `Called builtin function '${name}' with ${count} parameters instead of ${parameters.length} expected parameters`,
  });
}

function complexPart(
  name: string,
  summary: string,
  printed: string,
  apply: (real: number, imaginary: number) => number,
): ValueFunction {
  return sqlDefined({
    name,
    summary,
    parameters: [COMPLEX],
    examples: [[`print_json(${name}([[3, 4]]))`, printed]],
    timestamps: 'first',
    result: VECTOR_TYPE,
    evaluate: ([z]) => {
      const { real, imaginary } = complexSignal(z as Value, name);
      const parts = Array.from(real, (re, index) =>
        numberAtom(apply(re, imaginary[index] as number)),
      );
      return new Embedding([parts.length], parts, MINUS_INFINITY);
    },
  });
}

function textOf(argument: Value | undefined): string | undefined {
  return argument === undefined ? undefined : requireText(requireAtom(argument));
}

function impulse(n: Value | undefined, index: number): Embedding {
  const count = requireUnsigned(requireAtom(n));
  if (index >= count) {
    throw failure('SQL_EXECUTION', `index ${index} is outside of a vector of ${count} elements`);
  }
  const shape = shapeOf(new Embedding([1], [count], MINUS_INFINITY));
  const atoms = new Array<Atom>(elementCount(shape)).fill(0);
  atoms[index] = 1;
  return new Embedding(shape, atoms, MINUS_INFINITY);
}

function complexSignal(z: Value, name: string): Signal {
  const embedding = embeddingOf(z);
  if (embedding === undefined || !isComplex(embedding)) {
    throw failure('SQL_EXECUTION', `${name} requires an nx2 embedding of complex numbers`);
  }
  return toSignal(embedding);
}

function isComplex({ shape }: Embedding): boolean {
  return shape.length === 2 && shape[1] === 2;
}

function toSignal({ atoms }: Embedding): Signal {
  const signal = makeSignal(atoms.length / 2);
  for (let i = 0; i < signal.real.length; i++) {
    signal.real[i] = requireDouble(atoms[2 * i] as Atom);
    signal.imaginary[i] = requireDouble(atoms[2 * i + 1] as Atom);
  }
  return signal;
}

function fft(x: Value, direction = 'forward', type = 'real'): Embedding {
  if (direction !== 'forward' && direction !== 'backward') {
    throw failure('SQL_EXECUTION', "FFT direction must be either 'forward' or 'backward'");
  }
  if (type !== 'real' && type !== 'complex') {
    throw failure('SQL_EXECUTION', "FFT type must be either 'real' or 'complex'");
  }
  const input = requireSignal(x);
  const takesReal = direction === 'forward' && type === 'real';
  if (isComplex(input)) {
    if (takesReal) {
      throw failure('SQL_EXECUTION', 'Real input is required for the forward real fft');
    }
    return type === 'real' ? backwardReal(input) : complexTransform(input, direction);
  }
  if (!takesReal) {
    throw failure('SQL_EXECUTION', 'Complex input is required for inverse or complex fft');
  }
  return forwardReal(input);
}

function requireSignal(x: Value): Embedding {
  const input = embeddingOf(x);
  if (input === undefined || !(input.shape.length === 1 || isComplex(input))) {
    const message =
      'FFT requires either a flat embedding for real numbers, or a nx2 embedding for complex numbers.';
    throw failure('SQL_EXECUTION', message);
  }
  const count = input.atoms.length;
  if (count === 0 || count % SIZE_UNIT !== 0) {
    throw failure('SQL_EXECUTION', `FFT size must be a multiple of ${SIZE_UNIT}, got ${count}`);
  }
  return input;
}

/** The upper half of the spectrum of real numbers mirrors the lower and is left out. */
function forwardReal({ atoms }: Embedding): Embedding {
  const signal = makeSignal(atoms.length);
  signal.real.set(atoms.map(requireDouble));
  transform(signal, -1);
  const half = atoms.length / 2;
  const out = interleave(signal, half, 1);
  out[1] = numberAtom(signal.real[half] as number);
  return new Embedding([half, 2], out, MINUS_INFINITY);
}

function backwardReal(input: Embedding): Embedding {
  const spectrum = toSignal(input);
  const half = spectrum.real.length;
  const size = 2 * half;
  const signal = makeSignal(size);
  signal.real[0] = spectrum.real[0] as number;
  signal.real[half] = spectrum.imaginary[0] as number;
  for (let k = 1; k < half; k++) {
    const re = spectrum.real[k] as number;
    const im = spectrum.imaginary[k] as number;
    signal.real[k] = re;
    signal.imaginary[k] = im;
    signal.real[size - k] = re;
    signal.imaginary[size - k] = -im;
  }
  transform(signal, 1);
  const out = Array.from(signal.real, (re) => numberAtom(re / size));
  return new Embedding([size], out, MINUS_INFINITY);
}

function complexTransform(input: Embedding, direction: 'forward' | 'backward'): Embedding {
  const signal = toSignal(input);
  const size = signal.real.length;
  transform(signal, direction === 'forward' ? -1 : 1);
  const out = interleave(signal, size, direction === 'forward' ? 1 : size);
  return new Embedding([size, 2], out, MINUS_INFINITY);
}

function interleave({ real, imaginary }: Signal, count: number, divisor: number): Atom[] {
  const out: Atom[] = [];
  for (let k = 0; k < count; k++) {
    out.push(numberAtom((real[k] as number) / divisor));
    out.push(numberAtom((imaginary[k] as number) / divisor));
  }
  return out;
}
