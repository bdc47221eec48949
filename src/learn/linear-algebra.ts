// Small dense linear algebra in double precision: symmetric matrices, row by row in one array.

export interface Eigen {
  /** descending */
  readonly values: Float64Array;
  /** one vector of unit length for each value */
  readonly vectors: readonly Float64Array[];
}

/**
 * Eigenvalues and eigenvectors of a symmetric matrix of `size` rows: Householder tridiagonalisation,
 * then implicit QL steps. Cost: about 9 size^3 operations.
 * @param look called once a row of either step
 * @see Martin, Reinsch & Wilkinson, "Householder's tridiagonalization of a symmetric matrix", 1968;
 *   Dubrulle, Martin & Wilkinson, "The implicit QL algorithm", 1968
 */
export function symmetricEigen(
  matrix: Float64Array,
  size: number,
  look: () => void = () => undefined,
): Eigen {
  const z = matrix.slice();
  const diagonal = new Float64Array(size);
  const side = new Float64Array(size);
  tridiagonalise(z, size, diagonal, side, look);
  // The rotations of QL work on whole rows, which lie together in memory: on the transpose.
  transpose(z, size);
  implicitQl(diagonal, side, size, z, look);
  return sortedEigen(diagonal, (index) => z.slice(index * size, (index + 1) * size));
}

/** Eigenpairs of a symmetric tridiagonal matrix; `side[i]` couples i and i + 1. */
export function tridiagonalEigen(diagonal: Float64Array, side: Float64Array): Eigen {
  const size = diagonal.length;
  const z = new Float64Array(size * size);
  for (let i = 0; i < size; i++) z[i * size + i] = 1;
  const values = diagonal.slice();
  const shifted = new Float64Array(size);
  shifted.set(side.subarray(0, Math.max(0, size - 1)), 1);
  implicitQl(values, shifted, size, z, () => undefined);
  return sortedEigen(values, (index) => z.slice(index * size, (index + 1) * size));
}

function sortedEigen(values: Float64Array, vector: (index: number) => Float64Array): Eigen {
  const order = Array.from(values.keys()).sort(
    (a, b) => (values[b] as number) - (values[a] as number),
  );
  return {
    values: Float64Array.from(order, (index) => values[index] as number),
    vectors: order.map(vector),
  };
}

/** Leaves the transformation in `z`; `side[i]` couples i - 1 and i. */
function tridiagonalise(
  z: Float64Array,
  n: number,
  diagonal: Float64Array,
  side: Float64Array,
  look: () => void,
): void {
  for (let i = n - 1; i > 0; i--) {
    look();
    const row = i * n;
    let scale = 0;
    for (let k = 0; k < i; k++) scale += Math.abs(z[row + k] as number);
    if (i === 1 || scale === 0) {
      side[i] = z[row + i - 1] as number;
      diagonal[i] = 0;
      continue;
    }
    let h = 0;
    for (let k = 0; k < i; k++) {
      const value = (z[row + k] as number) / scale;
      z[row + k] = value;
      h += value * value;
    }
    const f = z[row + i - 1] as number;
    const g = f >= 0 ? -Math.sqrt(h) : Math.sqrt(h);
    side[i] = scale * g;
    h -= f * g;
    z[row + i - 1] = f - g;
    for (let j = 0; j < i; j++) side[j] = 0;
    // side = A u / h, from the lower triangle alone and along its rows.
    for (let j = 0; j < i; j++) {
      const uj = z[row + j] as number;
      const rowJ = j * n;
      let sum = (z[rowJ + j] as number) * uj;
      for (let k = 0; k < j; k++) {
        const a = z[rowJ + k] as number;
        sum += a * (z[row + k] as number);
        side[k] = (side[k] as number) + a * uj;
      }
      side[j] = (side[j] as number) + sum;
    }
    let projection = 0;
    for (let j = 0; j < i; j++) {
      z[j * n + i] = (z[row + j] as number) / h;
      side[j] = (side[j] as number) / h;
      projection += (side[j] as number) * (z[row + j] as number);
    }
    const half = projection / (h + h);
    for (let j = 0; j < i; j++) {
      const u = z[row + j] as number;
      const q = (side[j] as number) - half * u;
      side[j] = q;
      const rowJ = j * n;
      for (let k = 0; k <= j; k++) {
        z[rowJ + k] =
          (z[rowJ + k] as number) - u * (side[k] as number) - q * (z[row + k] as number);
      }
    }
    diagonal[i] = h;
  }
  side[0] = 0;
  diagonal[0] = 0;
  accumulate(z, n, diagonal, look);
}

/** Multiplies the reflections out. */
function accumulate(z: Float64Array, n: number, diagonal: Float64Array, look: () => void): void {
  const sums = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    look();
    const row = i * n;
    if (diagonal[i] !== 0) {
      sums.fill(0, 0, i);
      for (let k = 0; k < i; k++) {
        const u = z[row + k] as number;
        for (let j = 0; j < i; j++) sums[j] = (sums[j] as number) + u * (z[k * n + j] as number);
      }
      for (let k = 0; k < i; k++) {
        const v = z[k * n + i] as number;
        for (let j = 0; j < i; j++) {
          z[k * n + j] = (z[k * n + j] as number) - (sums[j] as number) * v;
        }
      }
    }
    diagonal[i] = z[row + i] as number;
    z[row + i] = 1;
    for (let j = 0; j < i; j++) {
      z[j * n + i] = 0;
      z[row + j] = 0;
    }
  }
}

function transpose(z: Float64Array, n: number): void {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) {
      const kept = z[i * n + j] as number;
      z[i * n + j] = z[j * n + i] as number;
      z[j * n + i] = kept;
    }
  }
}

/** QL steps that take at most this many an eigenvalue; far fewer are ever needed. */
const QL_STEP_MAX = 200;

/** Diagonalises; row i of `z` becomes the vector of `diagonal[i]`. */
function implicitQl(
  diagonal: Float64Array,
  side: Float64Array,
  n: number,
  z: Float64Array,
  look: () => void,
): void {
  for (let i = 1; i < n; i++) side[i - 1] = side[i] as number;
  if (n > 0) side[n - 1] = 0;
  for (let l = 0; l < n; l++) {
    look();
    for (let step = 0; step < QL_STEP_MAX; step++) {
      let m = l;
      for (; m < n - 1; m++) {
        const scale = Math.abs(diagonal[m] as number) + Math.abs(diagonal[m + 1] as number);
        if (Math.abs(side[m] as number) <= Number.EPSILON * scale) break;
      }
      if (m === l) break;
      qlStep(diagonal, side, n, z, l, m);
    }
  }
}

function qlStep(
  diagonal: Float64Array,
  side: Float64Array,
  n: number,
  z: Float64Array,
  l: number,
  m: number,
): void {
  let g = ((diagonal[l + 1] as number) - (diagonal[l] as number)) / (2 * (side[l] as number));
  let r = Math.hypot(g, 1);
  g =
    (diagonal[m] as number) -
    (diagonal[l] as number) +
    (side[l] as number) / (g + (g >= 0 ? r : -r));
  let sine = 1;
  let cosine = 1;
  let shift = 0;
  for (let i = m - 1; i >= l; i--) {
    const f = sine * (side[i] as number);
    const b = cosine * (side[i] as number);
    r = Math.hypot(f, g);
    side[i + 1] = r;
    if (r === 0) {
      diagonal[i + 1] = (diagonal[i + 1] as number) - shift;
      side[m] = 0;
      return;
    }
    sine = f / r;
    cosine = g / r;
    g = (diagonal[i + 1] as number) - shift;
    r = ((diagonal[i] as number) - g) * sine + 2 * cosine * b;
    shift = sine * r;
    diagonal[i + 1] = g + shift;
    g = cosine * r - b;
    const upper = (i + 1) * n;
    const lower = i * n;
    for (let k = 0; k < n; k++) {
      const above = z[upper + k] as number;
      const below = z[lower + k] as number;
      z[upper + k] = sine * below + cosine * above;
      z[lower + k] = cosine * below - sine * above;
    }
  }
  diagonal[l] = (diagonal[l] as number) - shift;
  side[l] = g;
  side[m] = 0;
}

/** Squared Euclidean distance of `a` to the elements of `b` from position `from` on. */
export function squaredDistance(a: Float64Array, b: Float64Array, from = 0): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] as number) - (b[from + i] as number);
    sum += difference * difference;
  }
  return sum;
}

export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
