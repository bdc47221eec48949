// Functions of a row's place among the rows of its window. How they are computed is the window
// operator's business; aggregates stand before OVER too.
import type { WindowFunction } from '../../plan/function.ts';
import { ANY_TYPE, type ValueType } from '../../plan/type/type.ts';
import { INTEGER_TYPE, NUMBER_TYPE, optional, parameter } from '../declare.ts';

type Options = Pick<WindowFunction, 'name' | 'summary'> &
  Partial<Pick<WindowFunction, 'parameters' | 'takesNulls' | 'resultType'>> & {
    /** what the first row of 3, 4, 5 in falling order gets */
    readonly example: readonly [call: string, result: string];
  };

function windowFunction({ example: [call, result], ...options }: Options): WindowFunction {
  const sql = `${call} OVER (ORDER BY value DESC) FROM row_dataset([3, 4, 5]) ORDER BY value DESC LIMIT 1`;
  return {
    kind: 'window',
    family: 'window',
    parameters: [],
    takesNulls: false,
    resultType: () => INTEGER_TYPE,
    ...options,
    examples: [[sql, result]],
  };
}

const X = parameter('x', 'an expression');
const typeOfFirst = ([type]: readonly ValueType[]): ValueType => type ?? ANY_TYPE;
function shift(name: 'lag' | 'lead', way: string, result: string): WindowFunction {
  return windowFunction({
    name,
    summary: `The value of the row that lies k rows ${way}, whatever the frame is.`,
    parameters: [
      X,
      optional('k', 'how many rows; default 1'),
      optional('otherwise', 'where there is no such row; default null'),
    ],
    takesNulls: true,
    resultType: () => ANY_TYPE,
    example: [`${name}(value)`, result],
  });
}

export const windowFunctions: readonly WindowFunction[] = [
  windowFunction({
    name: 'row_number',
    summary: 'The number of the row in its partition, from 1.',
    example: ['row_number()', '1'],
  }),
  windowFunction({
    name: 'rank',
    summary: 'One more than the number of rows before the peers of the row.',
    example: ['rank()', '1'],
  }),
  windowFunction({
    name: 'dense_rank',
    summary: 'The number of the run of peers that the row is in, from 1.',
    example: ['dense_rank()', '1'],
  }),
  windowFunction({
    name: 'percent_rank',
    summary: 'The rank as a share: (rank - 1) / (rows - 1).',
    resultType: () => NUMBER_TYPE,
    example: ['percent_rank()', '0'],
  }),
  windowFunction({
    name: 'cume_dist',
    summary: 'The share of rows that come no later than the row.',
    resultType: () => NUMBER_TYPE,
    example: ['cume_dist()', '0.3333333333333333'],
  }),
  windowFunction({
    name: 'ntile',
    summary:
      'The number of the bucket, from 1, when the partition is cut into n of nearly equal size.',
    parameters: [parameter('n', 'an integer of at least 1')],
    example: ['ntile(3)', '1'],
  }),
  shift('lag', 'before', 'null'),
  shift('lead', 'behind', '4'),
  windowFunction({
    name: 'first_value',
    summary: 'The value of the first row of the frame.',
    parameters: [X],
    takesNulls: true,
    resultType: typeOfFirst,
    example: ['first_value(value)', '5'],
  }),
  windowFunction({
    name: 'last_value',
    summary: 'The value of the last row of the frame.',
    parameters: [X],
    takesNulls: true,
    resultType: typeOfFirst,
    example: ['last_value(value)', '5'],
  }),
  windowFunction({
    name: 'nth_value',
    summary: 'The value of the row number n of the frame; null where it has fewer.',
    parameters: [X, parameter('n', 'an integer of at least 1')],
    takesNulls: true,
    resultType: typeOfFirst,
    example: ['nth_value(value, 1)', '5'],
  }),
];
