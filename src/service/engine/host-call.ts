// What a worker may ask the service while it waits.
import type { DatasetContent } from '../../dataset/dataset-type.ts';
import type { Credential, ResourceType } from '../../file/credential.ts';
import type { MemoryFile } from '../../file/memory-scheme.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import type { WireValue } from '../../value/wire-value.ts';

export type HostRequest =
  | { readonly kind: 'memory-file'; readonly get: string }
  | { readonly kind: 'memory-file-names' }
  | { readonly kind: 'memory-file-set'; readonly name: string; readonly file: MemoryFile }
  | { readonly kind: 'credential'; readonly type: ResourceType; readonly url: string }
  | { readonly kind: 'dataset-content'; readonly dataset: string }
  | {
      /** a column of content that was opened */
      readonly kind: 'dataset-column';
      readonly dataset: string;
      readonly snapshotId: number;
      /** the file of that content */
      readonly file: string;
      readonly column: number;
      /** true: it is to take as little memory as it can */
      readonly isFrugal: boolean;
    }
  | { readonly kind: 'fetch'; readonly url: string }
  /** a message of the run of that number */
  | { readonly kind: 'log'; readonly run: number; readonly message: string }
  | {
      readonly kind: 'script';
      readonly source: string;
      readonly parameters: readonly string[];
      readonly calls: readonly (readonly WireValue[])[];
    }
  | {
      readonly kind: 'run-script';
      readonly script: { readonly source?: string; readonly address?: string };
      /** JSON text */
      readonly args: string;
    };

export interface HostReplies {
  'dataset-content': DatasetContent;
  'dataset-column': ColumnSnapshot;
  fetch: { content: Uint8Array; lastModified: number } | { error: string };
  script: WireValue[];
  'run-script': string | undefined;
  credential: Credential | undefined;
  log: undefined;
  'memory-file': MemoryFile | undefined;
  'memory-file-names': readonly string[];
  'memory-file-set': undefined;
}

/** Answers requests of one kind; registered by the part of the service that can. */
export type HostHandler = (request: never) => Promise<unknown>;
