// Codes that programs of the query engine and kernels share.

/** Operators of comparisons. */
@shared
export enum Compare {
  equal = 0,
  notEqual = 1,
  less = 2,
  lessOrEqual = 3,
  greater = 4,
  greaterOrEqual = 5,
}

/** Operators of arithmetic. */
@shared
export enum Arithmetic {
  add = 0,
  subtract = 1,
  multiply = 2,
  divide = 3,
}

/** Truth values, a byte each: AND is the least, OR the greatest, NOT x is 2 - x. */
@shared
export enum Truth {
  isFalse = 0,
  isNull = 1,
  isTrue = 2,
}

/** Outputs of kernels may reach this many bytes behind their last row. */
@shared
export const OVERRUN_SIZE: i32 = 64;
