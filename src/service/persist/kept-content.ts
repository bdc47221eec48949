// Committed content in the store, before anybody has read it.

export interface KeptContent {
  /** what the type tells of it; undefined: only the content itself can tell */
  readonly status: unknown;
  /**
   * Reads what is not in the file.
   * @param known the last entry of the log that is part of content which is there already
   */
  parts(known?: number): ContentParts;
}

/** What committed content is made of: a file, and batches that were committed after it. */
export interface ContentParts {
  /** the last entry of the log that is part of it */
  readonly committed: number;
  /** true: no file, the batches come on top of the content that is known */
  readonly isOnTop: boolean;
  readonly file: string | undefined;
  /** what the type remembered when the file was written */
  readonly fileState: unknown;
  readonly batches: readonly Uint8Array[];
  /** what it remembered after the batches */
  readonly state: unknown;
}
