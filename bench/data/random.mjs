// Seeded random numbers for data that must be the same everywhere.

/**
 * The generator sfc32 by Chris Doty-Humphrey (PractRand): 128 bits of state, period above 2^32.
 * @returns a function that answers unsigned 32-bit integers
 */
export function randomIntegers(seed) {
  let a = seed | 0;
  let b = 0x9e3779b9;
  let c = 0x243f6a88;
  let counter = 1;
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let i = 0; i < 16; i++) next();
  return next;
}

/** Uniform numbers in [0, 1). */
export function randomUniforms(seed) {
  const next = randomIntegers(seed);
  return () => next() * 2 ** -32;
}

/** Normal numbers with mean 0 and deviation 1, by Box and Muller. */
export function randomNormals(seed) {
  const uniform = randomUniforms(seed);
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

/**
 * Draws positions in proportion to their weights, in constant time by the alias method.
 * @see Walker, "An efficient method for generating discrete random variables", TOMS 1977
 */
export function randomChoice(weights, integers) {
  const count = weights.length;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const shares = weights.map((weight) => (weight / total) * count);
  const limits = new Float64Array(count).fill(2 ** 32);
  const aliases = Int32Array.from(shares, (_, index) => index);
  const small = [];
  const large = [];
  for (let i = 0; i < count; i++) (shares[i] < 1 ? small : large).push(i);
  while (small.length > 0 && large.length > 0) {
    const less = small.pop();
    const more = large.at(-1);
    limits[less] = shares[less] * 2 ** 32;
    aliases[less] = more;
    shares[more] -= 1 - shares[less];
    if (shares[more] < 1) small.push(large.pop());
  }
  return () => {
    const index = Math.floor(integers() * 2 ** -32 * count);
    return integers() < limits[index] ? index : aliases[index];
  };
}
