// Short forms of function declarations: what most functions have in common is said once, here.
import type {
  AggregateFunction,
  ParameterDeclaration,
  ScalarFunction,
  ValueFunction,
} from '../plan/function.ts';
import { ANY_TYPE, atomType, type ValueType } from '../plan/type/type.ts';

export const NUMBER_TYPE: ValueType = atomType('number');
export const INTEGER_TYPE: ValueType = atomType('integer');
export const STRING_TYPE: ValueType = atomType('string');
export const VECTOR_TYPE: ValueType = { kind: 'embedding', shape: [-1], element: 'number' };

type ScalarDefault = 'volatility' | 'timestamps' | 'nulls';
type ScalarOptions = Omit<ScalarFunction, 'kind' | 'family' | ScalarDefault> &
  Partial<Pick<ScalarFunction, ScalarDefault>>;

type ValueDefault = 'volatility' | 'timestamps' | 'nulls' | 'versions' | 'resultType';
type ValueOptions = Omit<ValueFunction, 'kind' | 'family' | ValueDefault> &
  Partial<Pick<ValueFunction, ValueDefault>> & {
    /** the result type when it does not depend on the arguments; default: any */
    readonly result?: ValueType;
  };

type AggregateOptions<State> = Omit<
  AggregateFunction<State>,
  'kind' | 'family' | 'overRows' | 'countsEmpty'
> &
  Partial<Pick<AggregateFunction<State>, 'overRows' | 'countsEmpty'>>;

export interface Family {
  /** Immutable, null for null, the latest timestamp of the arguments unless it says otherwise. */
  scalar(options: ScalarOptions): ScalarFunction;
  /** The same defaults; sees the latest version of every cell. */
  value(options: ValueOptions): ValueFunction;
  /** Takes rows column by column unless it says otherwise. */
  aggregate<State>(options: AggregateOptions<State>): AggregateFunction<State>;
}

/**
 * The makers of one chapter of the manual.
 * @param common what holds for all functions of the chapter that do not say otherwise
 */
export function family(name: string, common: Pick<ScalarFunction, 'isLinear'> = {}): Family {
  return {
    scalar: (options) => ({
      kind: 'scalar',
      family: name,
      volatility: 'immutable',
      timestamps: 'latest',
      nulls: 'propagate',
      ...common,
      ...options,
    }),
    value: ({ result, ...options }) => ({
      kind: 'value',
      family: name,
      volatility: 'immutable',
      timestamps: 'latest',
      nulls: 'propagate',
      versions: 'latest',
      resultType: () => result ?? ANY_TYPE,
      ...common,
      ...options,
    }),
    aggregate: (options) => ({
      kind: 'aggregate',
      family: name,
      overRows: true,
      countsEmpty: false,
      ...options,
    }),
  };
}

export function parameter(name: string, description: string): ParameterDeclaration {
  return { name, description };
}

export function optional(name: string, description: string): ParameterDeclaration {
  return { name, description, optional: true };
}

export function variadic(name: string, description: string): ParameterDeclaration {
  return { name, description, variadic: true };
}
