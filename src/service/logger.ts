// What the service needs of a log; a pino logger fits.

type LogMethod = (details: Readonly<Record<string, unknown>>, message: string) => void;

export interface Logger {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
}

export const SILENT_LOGGER: Logger = { debug() {}, info() {}, warn() {}, error() {} };
