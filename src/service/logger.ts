// What the service needs of a log; a pino logger fits.
import { callContext } from './route/request-context.ts';

type LogMethod = (details: Readonly<Record<string, unknown>>, message: string) => void;

export interface Logger {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
}

export const SILENT_LOGGER: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** A log whose lines name the request that they are about, unless they do already. */
export function namingRequests(logger: Logger): Logger {
  const at =
    (level: keyof Logger): LogMethod =>
    (details, message) => {
      const requestId = callContext()?.requestId;
      const isNamed = requestId === undefined || details.requestId !== undefined;
      logger[level](isNamed ? details : { ...details, requestId }, message);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
