// Every code that callers may get, declared once: the reference, the description of routes and the
// statuses derive from here. A code is never reused for another meaning.

interface Entry {
  /** the HTTP status, unless a failure says otherwise */
  readonly status: number;
  /** the situation, as a clause: "a path names nothing" */
  readonly when: string;
  /**
   * the form of the message; parts that differ are in angle brackets, and what is in square brackets
   * is left out when its part is not given
   */
  readonly template: string;
  /** what the caller can do */
  readonly mend: string;
}

/** A code for many situations: each call writes its text, and the template says how they look. */
export interface OpenEntry extends Entry {
  /** a message that was made so */
  readonly example: string;
}

/** A code whose texts are made here: calls give the parts. See `errorText`. */
export interface FormedEntry extends Entry {
  /** the parts of the example */
  readonly parts: Readonly<Record<string, string | number>>;
  /** further templates by name */
  readonly forms?: Readonly<Record<string, string>>;
}

export type ErrorEntry = OpenEntry | FormedEntry;

export const ERRORS = {
  UNKNOWN_RESOURCE: {
    status: 404,
    when: 'no route has this path, or none for this verb',
    template: 'unknown resource <verb> <path>[; did you mean <near>?]',
    parts: { verb: 'GET', path: '/v1/datasetz', near: '/v1/datasets' },
    forms: {
      slash: 'Collection URLs do not contain a trailing slash: try <right> instead of <path>',
      handler: 'type <type> has no custom route handler registered',
      export: "the module exports no '<symbol>'",
    },
    mend: 'Compare the path with `GET /v1/help`; the header Allow lists the verbs of a path that exists.',
  },
  ENTITY_NOT_FOUND: {
    status: 404,
    when: 'an entity, or a part of one, is not there, or not in a state to answer',
    template: "<kind> entry '<id>' doesn't exist[; did you mean '<near>'?]",
    parts: { kind: 'dataset', id: 'flights' },
    forms: {
      deleted: "<kind> entry '<id>' does not exist or has been deleted[; did you mean '<near>'?]",
      unavailable: "<kind> entry '<id>' not available <reason>",
      function: "function '<id>' was not found",
      card: "function '<id>' has no model card: only functions of trained models have one",
      upload: "there is no upload '<name>'",
    },
    mend: 'List the ids with `GET /v1/<kind>s`; for one that failed, `GET /v1/<kind>s/<id>` tells why.',
  },
  RUN_NOT_FOUND: {
    status: 404,
    when: 'a procedure has no run of this id',
    template: "run entry '<id>' doesn't exist",
    parts: { id: 'r1' },
    forms: {
      deleted: "run entry '<id>' does not exist or has been deleted",
      none: 'not found',
    },
    mend: 'List the runs with `GET /v1/procedures/<id>/runs`.',
  },
  FILE_NOT_FOUND: {
    status: 400,
    when: 'a URL names no file',
    template: 'cannot access <url>: [<path>: ]<reason>',
    parts: {
      url: 'file:///nowhere.csv',
      path: '/nowhere.csv',
      reason: 'No such file or directory',
    },
    forms: {
      http: 'HTTP code <status> reading <url>',
      member: "Couldn't find resource <member> in archive <url>",
      pattern: "No file matches '<url>'",
      piece: 'cannot load a saved piece: <url>: No such file or directory',
    },
    mend: 'Correct the URL; a pattern must match at least one file.',
  },
  ENTITY_EXISTS: {
    status: 409,
    when: 'an entity must be new, and one of its id is there',
    template: "<kind> entry '<id>' already exists",
    parts: { kind: 'dataset', id: 'flights' },
    mend: 'Choose another id, or replace the entity with PUT.',
  },
  ENTITY_BUSY: {
    status: 409,
    when: 'an entity is being built, or its run still works, and it cannot be replaced now',
    template: "entry '<id>' in <kind> could not be overwritten because it is being constructed",
    parts: { kind: 'run', id: 'r1' },
    forms: {
      lastAdmin:
        'the last admin key cannot be revoked while the service listens on a public address',
      firstKey:
        'the first key must have the role admin: as soon as a key exists, only an administrator makes more',
      keyFile: '<path> is held by another process',
      listening: 'the service listens on <address> already',
    },
    mend: 'Wait until it is ready, or cancel it, and send the request again.',
  },
  ENTITY_NOT_READY: {
    status: 409,
    when: 'an entity is used before its construction has ended',
    template: "<kind> entry '<id>' exists but is not ready",
    parts: { kind: 'dataset', id: 'flights' },
    mend: 'Wait until its `state` is `ok`.',
  },
  CANCELLED: {
    status: 409,
    when: 'the work was cancelled by a request, or because nobody waited for it any more',
    template: "run '<id>' was cancelled",
    example: "run 'r1' was cancelled",
    mend: 'Start it again if it is still wanted; nothing that it made is left.',
  },
  UNKNOWN_PARAMETER: {
    status: 400,
    when: 'a query string or a body has a parameter that the route does not know',
    template: 'Unknown parameter(s) in REST call',
    parts: {},
    mend: '`details.unknownParameters` names them and `details.help` lists those that are known.',
  },
  INVALID_PARAMETER: {
    status: 400,
    when: 'a value is of the wrong kind, out of range, or does not fit another one',
    template: "<path>: <kind> was expected; instead got '<value>'",
    example: `params.limit: Integer was expected; instead got '"x"'`,
    mend: 'The message names the place and what is accepted.',
  },
  MISSING_PARAMETER: {
    status: 400,
    when: 'something that is needed was not given',
    template: '<path> is required: <what it is for>',
    example: 'params.dataFileUrl is required: file to write, compressed when its suffix says so',
    mend: 'Give the parameter that the message names.',
  },
  MIXED_PARAMETERS: {
    status: 400,
    when: 'parameters were given in the query string and in the body',
    template: 'You cannot mix query string and body parameters',
    parts: {},
    mend: 'Give all of them in one place.',
  },
  UNKNOWN_FIELD: {
    status: 400,
    when: 'a configuration has a member that its type does not know',
    template: 'unknown field <path>; accepted are <names>; did you mean <name>?',
    example:
      'unknown field params.row; accepted are dataset, rows, fraction, withReplacement, seed; did you mean rows?',
    mend: 'Correct the name; `GET /v1/types/<kind>s/<type>` describes all parameters.',
  },
  UNKNOWN_TYPE: {
    status: 400,
    when: 'a configuration names a type that does not exist',
    template: "couldn't find type '<type>' in registry[; did you mean '<near>'?]",
    parts: { type: 'tabluar', near: 'tabular' },
    forms: {
      id: 'Attempt to refer to nonexistant <kind> with id <id>',
      sensors: 'there are no types of sensors',
      sensor: "sensors of type '<type>' cannot be created",
    },
    mend: '`details.known` lists the types of the kind.',
  },
  INVALID_JSON: {
    status: 400,
    when: 'a text that must be JSON is not',
    template: '<what> is not JSON: <problem>',
    example: 'request body is not JSON: expected a value at line 1, column 1',
    mend: 'Correct the text at the place that the message names.',
  },
  EMPTY_PAYLOAD: {
    status: 400,
    when: 'a request that creates something has no body',
    template:
      "<verb> to collection '<collection>' with empty payload. Send a JSON object; {} when there is nothing to say",
    parts: { verb: 'POST', collection: 'datasets' },
    forms: {
      key: 'POST /v1/keys with empty payload',
      rows: 'request body is empty; expected is <rows>',
    },
    mend: 'Send the configuration as JSON.',
  },
  INVALID_URL: {
    status: 400,
    when: 'a URL is malformed, its scheme is unknown, or it may not be used here',
    template: '<problem>: <url>',
    example:
      'Uri handler not found for scheme ftpx (no handler found for scheme: ftpx): ftpx://host/file.csv',
    mend: 'Correct the URL; the guide lists the schemes and what may be read.',
  },
  SQL_SYNTAX: {
    status: 400,
    when: 'a statement or an expression does not follow the grammar',
    template: '<statement>:<line>:<column>: expected <words>, got <text>',
    example: 'SELEC 1:1:1: expected SELECT, got "SELEC"; did you mean SELECT?',
    mend: '`details` has line, column and what was expected there.',
  },
  SQL_BINDING: {
    status: 400,
    when: 'a statement names a column, a function or a dataset that is not there, or uses one wrongly',
    template: '<what is wrong>; did you mean <name>?',
    example:
      "Unable to find function 'lenght' binding function call 'lenght('x')'. The function is not a built-in function, and either it's not a registered user function, or user functions are not available in the scope of the expression. Did you mean 'length'?",
    mend: 'Correct the name; the message lists the nearest one.',
  },
  SQL_EXECUTION: {
    status: 400,
    when: 'an operation of a query has no result for the values that it met',
    template: '<what is wrong with the value>',
    example: "Can't convert value 'a' of type 'ASCII_STRING' to double",
    mend: 'Leave such rows out with WHERE, or convert the values with CAST.',
  },
  RUN_FAILED: {
    status: 400,
    when: 'a run ended with an error, and something needed its result',
    template: "run '<id>' failed",
    example: "run 'r1' failed",
    mend: 'Mend the cause that the message names and run it again.',
  },
  FIRST_RUN_FAILED: {
    status: 400,
    when: 'a procedure was created with `runOnCreation` and its run failed; the procedure stays',
    template: '<error> (failed to create the initial run)',
    parts: { error: 'cannot access file:///nowhere.csv: /nowhere.csv: No such file or directory' },
    mend: '`details.runError` is the error of the run; mend it and post a new run.',
  },
  SCRIPT_EXCEPTION: {
    status: 400,
    when: 'a script threw, or gave a value that cannot be used',
    template: '<exception>',
    example: 'Exception in JS status function',
    mend: '`details` has the exception with its place in the program.',
  },
  OUT_OF_MEMORY: {
    status: 400,
    when: 'the memory that columns may take is used up by what one request needs, and by datasets that are not kept',
    template: 'Out of memory. <what was asked for>',
    example: 'Out of memory. The task needed more than a worker may use.',
    mend: 'Remove datasets, ask for less at once, or start the service with a larger --memory.',
  },
  CREDENTIALS_NOT_FOUND: {
    status: 400,
    when: 'a URL needs credentials and no rule gives any',
    template: 'No credentials found for <type> <url>',
    parts: { type: 'aws:s3', url: 's3://bucket/file.csv' },
    mend: 'Store a rule with `POST /v1/credentials`.',
  },
  UNREACHABLE: {
    status: 503,
    when: 'the client could not reach the service; only programs that use the client see it',
    template: 'cannot reach <url>: <problem>',
    example: 'cannot reach http://127.0.0.1:8080: connection refused',
    mend: 'Start the service, or correct the address.',
  },
  REMOTE_FAILED: {
    status: 400,
    when: 'a database beside the service could not be reached, or refused what it was asked',
    template: '<what was tried>: <what the database said>',
    example: 'Could not connect to Postgresql database: connect ECONNREFUSED 127.0.0.1:5432',
    mend: 'Correct the address, the stored credential or the statement; `details` has what the database said.',
  },
  DATA_ERROR: {
    status: 400,
    when: 'a file, or data that was sent, is damaged or not in the form that was announced',
    template: '<file>: <line or row>: <problem>',
    example: 'flights.csv: line 7: 9 fields, but the header has 8',
    mend: 'Correct the data at the place that the message names, or let bad lines be skipped.',
  },
  UNAUTHENTICATED: {
    status: 401,
    when: 'the service requires an API key, and none that is valid was sent',
    template: 'an API key is required: Authorization: Bearer <key>, or X-API-Key',
    example: 'unknown API key',
    mend: 'Send a key; an administrator makes one with `rowan keys create`.',
  },
  FORBIDDEN: {
    status: 403,
    when: 'the role of the caller does not allow this',
    template: '<verb> <path> needs the role <role>; the caller has the role <role>',
    example: 'PUT /v1/datasets/d needs the role editor; the caller has the role reader',
    mend: 'Use a key with the role that `details.requiredRole` names.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    when: 'a request body is larger than the service takes',
    template: 'request body is larger than <bytes> bytes',
    parts: { bytes: 268435456 },
    forms: {
      part: 'a <what> of the request body is larger than <bytes> bytes',
      uploads:
        'uploads may take <bytes> bytes in all; remove some, or start the service with a larger --upload-quota',
      chunks: 'chunk extensions are too large',
    },
    mend: 'Send it in parts, or as a stream of lines.',
  },
  TIMEOUT: {
    status: 504,
    when: 'the time limit of the request, or of a remote server, was up',
    template: '<what> exceeded its time limit of <ms> ms',
    example: 'query exceeded its time limit of 30000 ms',
    mend: 'Ask for less, or raise the limit (X-Request-Timeout, --query-timeout).',
  },
  OVERLOADED: {
    status: 503,
    when: 'more requests wait than the service lets wait',
    template: 'too many requests are waiting; try again later',
    example: 'too many requests are waiting; try again later',
    mend: 'Wait as long as the header Retry-After says and send the request again.',
  },
  SHUTTING_DOWN: {
    status: 503,
    when: 'the service stops',
    template: 'the service is shutting down',
    parts: {},
    forms: {
      engine: 'the engine is closed',
      closed: 'the service is closed',
      run: 'the service shut down during the run',
      primary: 'the primary does not answer',
    },
    mend: 'Send the request again when the service has started anew.',
  },
  DISK_FULL: {
    status: 507,
    when: 'what must be durable could not be written',
    template: 'no space left to write <url>',
    parts: { url: 'file:///data/out.csv' },
    forms: {
      store: 'no space left on the disk to write "<path>"',
      result: 'no space left in the folder of temporary files for the result',
      scratch: 'no space left on the disk for the rows of a query that --memory has no room for',
      upload: "no space left to keep the upload '<name>'",
    },
    mend: 'Make room on the device; what was acknowledged before is safe.',
  },
  INTERNAL: {
    status: 500,
    when: 'the service met a defect of its own',
    template: 'internal error: <message>',
    example: 'internal error: a chunk has no rows',
    mend: 'Report it with the request and the `requestId`, which the log has too.',
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;

/** The codes of all failures that callers may get. */
export type ErrorCode = keyof typeof ERRORS;

/** Whether a value is a code of the catalogue. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERRORS, value);
}
