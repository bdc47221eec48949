import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { symmetricEigen, tridiagonalEigen } from '../../../src/learn/linear-algebra.ts';

function multiply(matrix: Float64Array, size: number, vector: Float64Array): Float64Array {
  return Float64Array.from({ length: size }, (_, i) =>
    vector.reduce((sum, value, j) => sum + value * (matrix[i * size + j] as number), 0),
  );
}

const symmetric = fc.integer({ min: 1, max: 8 }).chain((size) =>
  fc
    .array(fc.integer({ min: -9, max: 9 }), { minLength: size * size, maxLength: size * size })
    .map((cells) => {
      const matrix = new Float64Array(size * size);
      for (let i = 0; i < size; i++) {
        for (let j = 0; j <= i; j++) {
          const value = cells[i * size + j] as number;
          matrix[i * size + j] = value;
          matrix[j * size + i] = value;
        }
      }
      return { size, matrix };
    }),
);

describe('eigenpairs', () => {
  test('of symmetric matrices satisfy A v = l v with orthonormal vectors', () => {
    fc.assert(
      fc.property(symmetric, ({ size, matrix }) => {
        const { values, vectors } = symmetricEigen(matrix, size);
        for (const [index, vector] of vectors.entries()) {
          const product = multiply(matrix, size, vector);
          for (const [i, value] of product.entries()) {
            expect(value).toBeCloseTo((values[index] as number) * (vector[i] as number), 9);
          }
          for (const [other, another] of vectors.entries()) {
            const cosine = vector.reduce((sum, v, i) => sum + v * (another[i] as number), 0);
            expect(cosine).toBeCloseTo(index === other ? 1 : 0, 10);
          }
          if (index > 0) expect(values[index - 1]).toBeGreaterThanOrEqual(values[index] as number);
        }
      }),
    );
  });

  test('of tridiagonal matrices are those of the whole matrix', () => {
    const diagonal = Float64Array.of(2, -1, 5, 0);
    const side = Float64Array.of(1, 3, 0.5);
    const matrix = new Float64Array(16);
    for (let i = 0; i < 4; i++) {
      matrix[i * 5] = diagonal[i] as number;
      if (i < 3) {
        matrix[i * 5 + 1] = side[i] as number;
        matrix[i * 5 + 4] = side[i] as number;
      }
    }
    const expected = symmetricEigen(matrix, 4).values;
    tridiagonalEigen(diagonal, side).values.forEach((value, index) => {
      expect(value).toBeCloseTo(expected[index] as number, 12);
    });
  });
});
