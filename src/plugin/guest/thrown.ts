// What is known about an uncaught exception.
import { stringifyJson } from './json.ts';

export interface ThrownValue {
  /** the value as text: `boom`, `TypeError: …` */
  readonly text: string;
  /** the class of an error */
  readonly type?: string;
  /** frames, one a line, innermost first */
  readonly stack: string;
  /** JSON text of the value; of an error, its enumerable properties */
  readonly extra?: string;
}

/**
 * Only errors carry a stack, so programs are rewritten to hand everything that they throw to
 * `note`, which remembers where that was.
 */
export class ThrowRecorder {
  #value: unknown;
  #stack = '';

  readonly note = (value: unknown): unknown => {
    if (!(value instanceof Error)) {
      this.#value = value;
      this.#stack = new Error().stack ?? '';
    }
    return value;
  };

  describe(thrown: unknown): ThrownValue {
    if (thrown instanceof Error) return describeError(thrown);
    const extra = jsonOf(thrown);
    return {
      text: safeText(thrown),
      stack: Object.is(thrown, this.#value) ? this.#stack : '',
      ...(extra === undefined ? {} : { extra }),
    };
  }
}

function describeError(error: Error): ThrownValue {
  const extra = jsonOf({ ...error });
  return {
    text: safeText(error),
    type: error.name,
    stack: typeof error.stack === 'string' ? error.stack : '',
    ...(extra === undefined || extra === '{}' ? {} : { extra }),
  };
}

function safeText(value: unknown): string {
  try {
    return typeof value === 'object' && value !== null && !(value instanceof Error)
      ? (stringifyJson(value) ?? String(value))
      : String(value);
  } catch {
    return 'value without a text';
  }
}

function jsonOf(value: unknown): string | undefined {
  try {
    return stringifyJson(value);
  } catch {
    return undefined;
  }
}
