// The types of the face, for programs that are written against it.
export type { CallOptions } from './call-limit.ts';
export type { PerformOptions } from './caller.ts';
export type { Cell, CellTuple, Name, NamedCells, ResultRow } from './cell.ts';
export type { DatasetObject } from './dataset.ts';
export type { Collection, EntityConfig, Named, StatusDocument } from './entity.ts';
export type {
  ApplyOptions,
  FunctionCollection,
  FunctionInput,
  FunctionObject,
} from './function.ts';
export type { Source } from './json-lines.ts';
export type { ProcedureObject } from './procedure.ts';
export type { Query, QueryFormat, QueryOptions, QueryResults, QueryWarning } from './query.ts';
export type { PerformedReply } from './reply.ts';
export type { RowanApi } from './rowan-api.ts';
export type {
  Progress,
  ProgressStep,
  RunConfig,
  RunDocument,
  RunEvent,
  RunObject,
  RunOptions,
  RunOutcome,
  RunState,
} from './run.ts';
