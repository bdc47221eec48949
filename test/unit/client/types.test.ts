// What the compiler knows of the face; `npm run check` is what runs these.
import type { RecordBatch, Table } from 'apache-arrow';
import { expectTypeOf, test } from 'vitest';
import type { RowanClient } from '../../../src/client/index.ts';
import type {
  Cell,
  FunctionObject,
  Progress,
  ResultRow,
  RowanApi,
  RunDocument,
  RunEvent,
} from '../../../src/index.ts';
import { type LocalFunction, Rowan } from '../../../src/index.ts';

declare const api: RowanApi;
declare const rowan: Rowan;
declare const client: RowanClient;

/** The types of what is never run. */
function types<T>(_ask: () => T) {
  return expectTypeOf<T>();
}

test('both ways to the service have its face', () => {
  expectTypeOf<Rowan>().toExtend<RowanApi>();
  expectTypeOf<RowanClient>().toExtend<RowanApi>();
  expectTypeOf(Rowan.open).returns.resolves.toEqualTypeOf<Rowan>();
});

test('queries have the type of their format and of their rows', () => {
  interface Trip {
    readonly km: number;
  }
  types(async () => await api.query('')).resolves.toEqualTypeOf<Cell[][]>();
  types(async () => await api.query('', { format: 'aos' })).resolves.toEqualTypeOf<ResultRow[]>();
  types(async () => await api.query('', { format: 'arrow' })).resolves.toEqualTypeOf<Uint8Array>();
  types(() => api.query<Trip>('').rows()).resolves.toEqualTypeOf<Trip[]>();
  types(() => api.query('').value<number>()).resolves.toEqualTypeOf<number>();
  types(() => api.query('').value()).resolves.toEqualTypeOf<Cell>();
  types(() => api.query('').arrow()).resolves.toEqualTypeOf<Table>();
  types(() => api.query('').batches()).toExtend<AsyncIterable<RecordBatch>>();
  types(() => api.query<Trip>('')).toExtend<AsyncIterable<Trip>>();
});

test('functions have the types of their inputs and outputs', () => {
  type Speed = FunctionObject<{ km: number }, { kmh: number }>;
  const speed = () => api.functions.get<{ km: number }, { kmh: number }>('speed');
  types(speed).toEqualTypeOf<Speed>();
  types(() => speed().apply({ km: 1 })).resolves.toEqualTypeOf<{ kmh: number }>();
  types(() => speed().batch([{ km: 1 }])).resolves.toEqualTypeOf<{ kmh: number }[]>();
  types(() => speed().batch({ a: 1 })).resolves.toEqualTypeOf<Record<string, { kmh: number }>>();
  types(() => speed().stream([])).toExtend<AsyncIterable<{ kmh: number }>>();
  types(() => api.functions.get('f').apply<string>({})).resolves.toEqualTypeOf<string>();
  expectTypeOf<Speed['apply']>().parameter(0).toEqualTypeOf<{ km: number }>();
  types(() => client.functions.get('f')).not.toHaveProperty('callJson');
  types(() => rowan.functions.get<{ x: number }, 1>('f')).toEqualTypeOf<
    LocalFunction<{ x: number }, 1>
  >();
});

test('runs have the types of their results and events', () => {
  const run = () => api.procedures.get('p').run<{ rowCount: number }>();
  types(async () => (await run()).results).resolves.toEqualTypeOf<
    { rowCount: number } | undefined
  >();
  types(() => run().document()).resolves.toEqualTypeOf<RunDocument<{ rowCount: number }>>();
  types(run).toExtend<AsyncIterable<RunEvent>>();
  expectTypeOf<Extract<RunEvent, { event: 'progress' }>['data']>().toEqualTypeOf<Progress>();
});

test('replies have the type that is asked for', () => {
  types(async () => (await api.get('/ping')).json).resolves.toBeUnknown();
  types(async () => (await api.get<string>('/ping')).json).resolves.toBeString();
});
