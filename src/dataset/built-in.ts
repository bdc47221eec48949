// The dataset types that come with the service.

import { beh, behBinary, behBinaryMutable, behMutable } from './behavior.ts';
import { continuous, continuousWindow } from './continuous.ts';
import type { DatasetType } from './dataset-type.ts';
import { embedding } from './embedding.ts';
import { joined } from './joined.ts';
import { merged } from './merged.ts';
import { clickhouseDataset } from './remote/clickhouse.ts';
import { docdbDataset, docdbRecord } from './remote/docdb.ts';
import { postgresqlDataset, postgresqlRecorder } from './remote/postgresql.ts';
import { sampled } from './sampled.ts';
import { sparseMutable } from './sparse-mutable.ts';
import { sqliteSparse } from './sqlite-sparse.ts';
import { structuredMutable } from './structured-mutable.ts';
import { tabular } from './tabular.ts';
import { transposed } from './transposed.ts';
import { union } from './union.ts';

export const DATASET_TYPES: readonly DatasetType[] = [
  embedding,
  joined,
  merged,
  sampled,
  sparseMutable,
  structuredMutable,
  tabular,
  transposed,
  union,
  beh,
  behBinary,
  behBinaryMutable,
  behMutable,
  sqliteSparse,
  continuous,
  continuousWindow,
  clickhouseDataset,
  docdbDataset,
  docdbRecord,
  postgresqlDataset,
  postgresqlRecorder,
];
