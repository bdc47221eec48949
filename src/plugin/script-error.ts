// Exceptions of scripts as failures of the service.
import { RowanError } from '../util/error.ts';
import type { LogEntry, ScriptException } from './message.ts';

/** A script run that ended in an exception: what it threw and what it had logged. */
export function scriptFailure(exception: ScriptException, logs: readonly LogEntry[]): RowanError {
  return new RowanError('SCRIPT_EXCEPTION', 400, exception.message, undefined, {
    exception,
    ...(logs.length === 0 ? {} : { logs }),
  });
}

/** A plugin that failed in its own code. */
export function pluginFailure(message: string, exception: ScriptException): RowanError {
  return new RowanError('SCRIPT_EXCEPTION', 400, message, { ...exception });
}
