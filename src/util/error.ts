import { ERRORS, type ErrorCode } from './error-catalogue.ts';
import { errorText, type PartsFor, type TextOf } from './error-text.ts';

/** Everything a caller may learn about a failure; plain data, so that it crosses threads and HTTP. */
export interface ErrorBody {
  readonly error: string;
  readonly httpCode: number;
  readonly code: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * An expected failure: the caller's fault (4xx) or a limit of the service (5xx with a reason).
 * Anything else that is thrown is a defect of ours and becomes a 500 with the code INTERNAL.
 */
export class RowanError extends Error {
  readonly code: ErrorCode;
  readonly httpCode: number;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Members that stand beside `error` at the top level of the body, for instance `kind`. */
  readonly extra: Readonly<Record<string, unknown>> | undefined;

  constructor(
    code: ErrorCode,
    httpCode: number,
    message: string,
    details?: Readonly<Record<string, unknown>>,
    extra?: Readonly<Record<string, unknown>>,
  ) {
    super(message);
    this.name = 'RowanError';
    this.code = code;
    this.httpCode = httpCode;
    this.details = details;
    this.extra = extra;
  }

  toBody(): ErrorBody {
    return {
      error: this.message,
      httpCode: this.httpCode,
      code: this.code,
      ...(this.details === undefined ? {} : { details: this.details }),
      ...this.extra,
    };
  }

  /** The failure that a service has told of; one that is newer may know more codes. */
  static fromBody(body: ErrorBody): RowanError {
    const { error, httpCode, code, details, ...extra } = body;
    return new RowanError(code as ErrorCode, httpCode, error, details, extra);
  }
}

/**
 * Makes a RowanError with the default status of its code. `text` is the parts of the message when
 * the catalogue has its form, and else the message.
 */
export function failure<Code extends ErrorCode>(
  code: Code,
  text: TextOf<Code>,
  details?: Readonly<Record<string, unknown>>,
): RowanError {
  const message = typeof text === 'string' ? text : errorText<Code>(code, text as PartsFor<Code>);
  return new RowanError(code, ERRORS[code].status, message, details);
}

/** Whether something failed because memory is short. */
export function isShortage(thrown: unknown): thrown is RowanError {
  return thrown instanceof RowanError && thrown.code === 'OUT_OF_MEMORY';
}

/** A failure with more details, for instance the place where it happened; a defect stays as it is. */
export function withDetails(thrown: unknown, details: Readonly<Record<string, unknown>>): unknown {
  if (!(thrown instanceof RowanError)) return thrown;
  const { code, httpCode, message, extra } = thrown;
  return new RowanError(code, httpCode, message, { ...thrown.details, ...details }, extra);
}

/** A failure with members that stand beside `error` in its body. */
export function withExtra(
  { code, httpCode, message, details }: RowanError,
  extra: Readonly<Record<string, unknown>>,
): RowanError {
  return new RowanError(code, httpCode, message, details, extra);
}

/** The body of any thrown value; what is not a RowanError is a defect and says so. */
export function errorBody(thrown: unknown): ErrorBody {
  if (thrown instanceof RowanError) return thrown.toBody();
  if (isTooLongText(thrown)) return failure('OUT_OF_MEMORY', TOO_LONG_MESSAGE).toBody();
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { error: `internal error: ${message}`, httpCode: 500, code: 'INTERNAL' };
}

/** What JavaScript says when a text would be longer than texts can be. */
function isTooLongText(thrown: unknown): boolean {
  return thrown instanceof RangeError && thrown.message === 'Invalid string length';
}

const TOO_LONG_MESSAGE =
  'Out of memory. A text would be longer than the 536870888 characters that a text can have';
