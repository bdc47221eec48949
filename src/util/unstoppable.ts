// Calls that may take long and cannot look whether their result is still wanted. While one runs, the
// thread says so, and the main thread may end it.

interface Watch {
  begin(): void;
  end(): void;
}

let watch: Watch | undefined;

/** Who is told in this thread when such a call begins and ends; the last one given counts. */
export function watchUnstoppable(given: Watch): void {
  watch = given;
}

/** Does the work, and says meanwhile that it runs. */
export function unstoppable<Result>(work: () => Result): Result {
  if (watch === undefined) return work();
  watch.begin();
  try {
    return work();
  } finally {
    watch.end();
  }
}
