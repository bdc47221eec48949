// What the HTTP server can be told, with the defaults of programs.
import { LISTEN_OPTIONS, type OptionValues, optionDefaults } from '../schema/server-options.ts';

export interface RestOptions extends OptionValues<typeof LISTEN_OPTIONS> {
  readonly heavyQueueLengthMax: number;
}

export const DEFAULT_REST_OPTIONS: RestOptions = {
  ...optionDefaults(LISTEN_OPTIONS),
  // Any free port: a program asks which one it was.
  ports: [0],
  heavyQueueLengthMax: 1000,
};
