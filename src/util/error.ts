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
  readonly code: string;
  readonly httpCode: number;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Members that stand beside `error` at the top level of the body, for instance `kind`. */
  readonly extra: Readonly<Record<string, unknown>> | undefined;

  constructor(
    code: string,
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

  static fromBody(body: ErrorBody): RowanError {
    const { error, httpCode, code, details, ...extra } = body;
    return new RowanError(code, httpCode, error, details, extra);
  }
}

/** Codes and their default status. A code is never reused for another meaning. */
export const ERROR_STATUS = {
  UNKNOWN_RESOURCE: 404,
  ENTITY_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  FILE_NOT_FOUND: 400,
  ENTITY_EXISTS: 409,
  ENTITY_BUSY: 409,
  ENTITY_NOT_READY: 409,
  CANCELLED: 409,
  UNKNOWN_PARAMETER: 400,
  INVALID_PARAMETER: 400,
  MISSING_PARAMETER: 400,
  MIXED_PARAMETERS: 400,
  UNKNOWN_FIELD: 400,
  UNKNOWN_TYPE: 400,
  INVALID_JSON: 400,
  EMPTY_PAYLOAD: 400,
  INVALID_URL: 400,
  SQL_SYNTAX: 400,
  SQL_BINDING: 400,
  SQL_EXECUTION: 400,
  RUN_FAILED: 400,
  FIRST_RUN_FAILED: 400,
  SCRIPT_EXCEPTION: 400,
  OUT_OF_MEMORY: 400,
  CREDENTIALS_NOT_FOUND: 400,
  DATA_ERROR: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  BODY_TOO_LARGE: 413,
  TIMEOUT: 504,
  OVERLOADED: 503,
  SHUTTING_DOWN: 503,
  DISK_FULL: 507,
  INTERNAL: 500,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** Makes a RowanError with the default status of its code. */
export function failure(
  code: ErrorCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): RowanError {
  return new RowanError(code, ERROR_STATUS[code], message, details);
}

/** A failure with more details, for instance the place where it happened; a defect stays as it is. */
export function withDetails(thrown: unknown, details: Readonly<Record<string, unknown>>): unknown {
  if (!(thrown instanceof RowanError)) return thrown;
  const { code, httpCode, message, extra } = thrown;
  return new RowanError(code, httpCode, message, { ...thrown.details, ...details }, extra);
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
