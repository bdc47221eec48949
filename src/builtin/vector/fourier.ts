// Discrete Fourier transforms of any length.

/** Real and imaginary parts, transformed in place. */
export interface Signal {
  readonly real: Float64Array;
  readonly imaginary: Float64Array;
}

/** Sum of x_j e^(direction 2πi jk/n), unscaled; direction -1 is the forward transform. */
export function transform(signal: Signal, direction: 1 | -1): void {
  const size = signal.real.length;
  if ((size & (size - 1)) === 0) transformPowerOfTwo(signal, direction);
  else transformAnySize(signal, direction);
}

/**
 * @see Cooley & Tukey, "An algorithm for the machine calculation of complex Fourier series",
 *   Mathematics of Computation 19, 1965
 */
function transformPowerOfTwo({ real, imaginary }: Signal, direction: 1 | -1): void {
  const size = real.length;
  reverseBits(real, imaginary);
  for (let width = 2; width <= size; width *= 2) {
    const half = width / 2;
    for (let k = 0; k < half; k++) {
      const angle = (direction * 2 * Math.PI * k) / width;
      const c = Math.cos(angle);
      const s = Math.sin(angle);
      for (let i = k; i < size; i += width) {
        const j = i + half;
        const re = (real[j] as number) * c - (imaginary[j] as number) * s;
        const im = (real[j] as number) * s + (imaginary[j] as number) * c;
        real[j] = (real[i] as number) - re;
        imaginary[j] = (imaginary[i] as number) - im;
        real[i] = (real[i] as number) + re;
        imaginary[i] = (imaginary[i] as number) + im;
      }
    }
  }
}

function reverseBits(real: Float64Array, imaginary: Float64Array): void {
  const size = real.length;
  for (let i = 1, j = 0; i < size; i++) {
    let bit = size >> 1;
    for (; (j & bit) !== 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      swap(real, i, j);
      swap(imaginary, i, j);
    }
  }
}

function swap(values: Float64Array, i: number, j: number): void {
  const value = values[i] as number;
  values[i] = values[j] as number;
  values[j] = value;
}

/**
 * Any size as a convolution of the next power of two that holds it.
 * @see L. Bluestein, "A linear filtering approach to the computation of discrete Fourier
 *   transform", IEEE Trans. Audio and Electroacoustics 18, 1970
 */
function transformAnySize({ real, imaginary }: Signal, direction: 1 | -1): void {
  const size = real.length;
  let padded = 1;
  while (padded < 2 * size - 1) padded *= 2;
  const chirp = makeSignal(size);
  for (let i = 0; i < size; i++) {
    // i² modulo 2n: the angle of the square itself would lose all precision.
    const angle = (direction * Math.PI * ((i * i) % (2 * size))) / size;
    chirp.real[i] = Math.cos(angle);
    chirp.imaginary[i] = Math.sin(angle);
  }
  const a = makeSignal(padded);
  const b = makeSignal(padded);
  for (let i = 0; i < size; i++) {
    const c = chirp.real[i] as number;
    const s = chirp.imaginary[i] as number;
    a.real[i] = (real[i] as number) * c - (imaginary[i] as number) * s;
    a.imaginary[i] = (real[i] as number) * s + (imaginary[i] as number) * c;
    for (const j of i === 0 ? [0] : [i, padded - i]) {
      b.real[j] = c;
      b.imaginary[j] = -s;
    }
  }
  convolve(a, b);
  for (let i = 0; i < size; i++) {
    const c = chirp.real[i] as number;
    const s = chirp.imaginary[i] as number;
    const re = a.real[i] as number;
    const im = a.imaginary[i] as number;
    real[i] = re * c - im * s;
    imaginary[i] = re * s + im * c;
  }
}

/** The cyclic convolution of both, in `a`. */
function convolve(a: Signal, b: Signal): void {
  const size = a.real.length;
  transformPowerOfTwo(a, -1);
  transformPowerOfTwo(b, -1);
  for (let i = 0; i < size; i++) {
    const re = a.real[i] as number;
    const im = a.imaginary[i] as number;
    const bRe = b.real[i] as number;
    const bIm = b.imaginary[i] as number;
    a.real[i] = (re * bRe - im * bIm) / size;
    a.imaginary[i] = (re * bIm + im * bRe) / size;
  }
  transformPowerOfTwo(a, 1);
}

export function makeSignal(size: number): Signal {
  return { real: new Float64Array(size), imaginary: new Float64Array(size) };
}
