// Committed content in the store, before anybody has read it.

export interface KeptContent {
  /** what the type tells of it; undefined: only the content itself can tell */
  readonly status: unknown;
  /** Reads what is not in the file. */
  parts(): ContentParts;
}

/** What committed content is made of: a file, and batches that were committed after it. */
export interface ContentParts {
  readonly file: string | undefined;
  /** what the type remembered when the file was written */
  readonly fileState: unknown;
  readonly batches: readonly Uint8Array[];
  /** what it remembered after the batches */
  readonly state: unknown;
}
