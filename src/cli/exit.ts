// How commands end.
import { DataDirectoryError } from '../store/directory-lock.ts';

export const EXIT = { ok: 0, failed: 1, dataDirUnusable: 2 } as const;

/** Ends the process with a message on standard error; a caller's mistake needs no stack. */
export function failCommand(thrown: unknown, code: number = EXIT.failed): never {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  process.stderr.write(`rowan: ${message}\n`);
  process.exit(code);
}

/** The exit code of a service that could not be opened. */
export function openFailureCode(thrown: unknown): number {
  const isOfFiles = thrown instanceof Error && 'syscall' in thrown;
  return thrown instanceof DataDirectoryError || isOfFiles ? EXIT.dataDirUnusable : EXIT.failed;
}
