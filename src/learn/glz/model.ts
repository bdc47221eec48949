// Generalised linear models as plain values.
import type { DesignColumns } from '../design/columns.ts';
import type { Link } from './link.ts';

export interface GlzModel {
  readonly type: 'glz';
  readonly link: Link;
  /**
   * What makes the scores of all labels add up to 1; absent: labels are independent, as all are
   * that are trained here.
   */
  readonly jointly?: 'softmax' | 'shares';
  /** scores go through the inverse link */
  readonly decode: boolean;
  readonly addBias: boolean;
  readonly columns: DesignColumns;
  /**
   * Coefficients of the columns, then the constant: a row a label (false and true where there are
   * two classes without names), or the only one.
   */
  readonly weights: readonly Float64Array[];
  /** weighted means of the columns over the training rows */
  readonly means: Float64Array;
}
