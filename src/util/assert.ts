/** Throws when an invariant of our own code is broken; never used on a user's input. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}

/** Marks the default branch of an exhaustive switch. */
export function unreachable(value: never): never {
  throw new Error(`assertion failed: unexpected ${JSON.stringify(value)}`);
}
