// The one door from a script to the service.
import { parseJson, stringifyJson } from './json.ts';

/** Asks the host something and waits; the answer is JSON: `{"result"}` or `{"error"}`. */
export type HostFunction = (name: string, argument: string) => string;

/** What a script catches when the service refuses something. */
export class ServiceError extends Error {
  httpCode: number;
  code: string | undefined;
  details: unknown;
  error: string;

  constructor(body: ServiceErrorBody) {
    super(body.error);
    this.httpCode = body.httpCode;
    this.code = body.code;
    this.details = body.details;
    this.error = body.error;
  }
}
// A plain property of the prototype, so that errors list only what the service said.
Object.defineProperty(ServiceError.prototype, 'name', { value: 'Error' });

export interface ServiceErrorBody {
  readonly error: string;
  readonly httpCode: number;
  readonly code?: string;
  readonly details?: unknown;
}

export class Host {
  readonly #call: HostFunction;

  constructor(call: HostFunction) {
    this.#call = call;
  }

  /** @throws ServiceError */
  call(name: string, argument: unknown = null): unknown {
    const answer = parseJson(this.#call(name, stringifyJson(argument) ?? 'null')) as {
      readonly result?: unknown;
      readonly error?: ServiceErrorBody;
    };
    if (answer.error !== undefined) throw new ServiceError(answer.error);
    return answer.result;
  }
}
