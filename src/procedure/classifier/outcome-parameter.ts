// A parameter that the tables of outcomes share.
import { Type } from 'typebox';

export const outcomes = Type.Array(Type.Tuple([Type.String(), Type.String()]), {
  description: 'names with SQL expressions over the rows that trainingData reads',
  default: [],
});
