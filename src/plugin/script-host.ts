// The main thread's answers to what scripts ask: requests, entities, files.
import { ENTITY_KINDS, type EntityKind } from '../dataset/entity-type.ts';
import type { ByteStream } from '../file/byte-stream.ts';
import { isLightInput } from '../function/light-expression.ts';
import { MAIN_THREAD_CONTEXT } from '../service/engine/engine.ts';
import { applyFunction } from '../service/engine/task/function.ts';
import { parseConfig } from '../service/entity/config.ts';
import { requireReadableUrl } from '../service/route/caller-role.ts';
import { contentTypeOf, makeRequest, readText } from '../service/route/local-transport.ts';
import type { Role } from '../service/route/request.ts';
import { bytesBody, EMPTY_BODY } from '../service/route/request-body.ts';
import type { Service } from '../service/service.ts';
import { failure } from '../util/error.ts';
import { parseJson } from '../util/exact-json.ts';
import { atomFromJson } from '../value/json.ts';
import { NOT_A_DATE, printTimestamp } from '../value/timestamp.ts';
import { Row, Scalar, sortedRow, type Value } from '../value/value.ts';
import { valueToWire } from '../value/wire-value.ts';
import type { LogEntry } from './message.ts';
import type { CallHost } from './sandbox.ts';

export interface ScriptHostOptions {
  readonly service: Service;
  readonly role: Role;
  /** the address of the HTTP server, empty without one */
  address(): string;
  /** Answers that only the owner of the script can give; undefined: not its question. */
  own?(name: string, argument: unknown): Promise<unknown> | undefined;
  /** Hears what the script logs, beside the log of the service. */
  onLog?(entry: LogEntry): void;
  /** named in the log, for instance `plugin 'p'` */
  readonly owner: string;
}

/** Holds the files that a script has opened until the script ends. */
export class ScriptHost implements CallHost {
  readonly role: Role;
  readonly #options: ScriptHostOptions;
  readonly #streams = new Map<number, AsyncIterator<Uint8Array>>();
  #nextStream = 1;

  constructor(options: ScriptHostOptions) {
    this.#options = options;
    this.role = options.role;
  }

  log(entry: LogEntry): void {
    const { service, owner, onLog } = this.#options;
    service.logger.info(
      { logger: 'script', script: owner, stream: entry.s },
      entry.c.replace(/\n$/, ''),
    );
    onLog?.(entry);
  }

  async answer(name: string, argumentText: string, signal: AbortSignal): Promise<unknown> {
    const argument = parseJson(argumentText) as never;
    switch (name) {
      case 'perform':
        return this.#perform(argument, signal);
      case 'obtain':
        return this.#obtain(argument);
      case 'apply':
        return this.#apply(argument, signal);
      case 'run-procedure':
        return this.#runProcedure(argument, signal);
      case 'stream-open':
        return this.#openStream(argument);
      case 'stream-chunk':
        return this.#nextChunk(argument);
      case 'ls':
        return this.#list(argument);
      case 'address':
        return this.#options.address();
    }
    const own = this.#options.own?.(name, argument);
    if (own === undefined) {
      throw failure('INVALID_PARAMETER', `${name} is not available in this script`);
    }
    return own;
  }

  /** Closes the files that the script has left open. */
  async close(): Promise<void> {
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    await Promise.all(streams.map((stream) => stream.return?.()));
  }

  async #perform(
    { verb, resource, query, body, headers }: PerformArgument,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { service, role } = this.#options;
    const request = makeRequest({
      ...{ verb, path: resource, query, signal, role },
      headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
      body: body === undefined ? EMPTY_BODY : bytesBody(new TextEncoder().encode(body)),
    });
    const reply = await service.dispatcher.dispatch(request);
    const pairs = Object.entries(reply.headers ?? {});
    const contentType = contentTypeOf(reply);
    const text = await readText(reply);
    return {
      responseCode: reply.status,
      ...(contentType === undefined ? {} : { contentType }),
      ...(pairs.length === 0 ? {} : { headers: pairs }),
      ...(text === '' ? {} : { response: text }),
    };
  }

  async #obtain({ kind, config }: { kind: string; config: unknown }): Promise<unknown> {
    const { service } = this.#options;
    if (!ENTITY_KINDS.includes(kind as EntityKind)) {
      throw failure('INVALID_PARAMETER', `unknown kind of entity '${kind}'`);
    }
    const entityKind = kind as EntityKind;
    const parsed = parseConfig(config);
    const { id, config: obtained } = await service.obtain(entityKind, parsed);
    return { id, ...(obtained.params === undefined ? {} : { params: obtained.params }) };
  }

  async #apply({ id, input, format }: ApplyArgument, signal: AbortSignal): Promise<unknown> {
    const { service } = this.#options;
    const entity = service.functions.use(id);
    const value = inputValue(input);
    if (!(value instanceof Row)) {
      throw failure('INVALID_PARAMETER', 'the input of a function is an object of input values');
    }
    const call = { typedInput: valueToWire(value), keepValues: [], format } as const;
    if (entity.isLight && isLightInput(input)) {
      const compiled = service.engine.mirror.compiledFunction(id);
      return parseJson(applyFunction(compiled, call, MAIN_THREAD_CONTEXT));
    }
    const parts: Uint8Array[] = [];
    await service.compute(
      'apply',
      { function: id, ...call },
      { signal, onChunk: (bytes) => void parts.push(bytes) },
    );
    return parseJson(Buffer.concat(parts).toString('utf8'));
  }

  async #runProcedure(
    { id, params }: { id: string; params: Readonly<Record<string, unknown>> },
    signal: AbortSignal,
  ): Promise<unknown> {
    const procedure = this.#options.service.procedures.use(id);
    const { result, details } = await procedure.runDetached(params, signal);
    return {
      ...(result === undefined || result === null ? {} : { results: result }),
      ...(details === undefined || details === null ? {} : { details }),
    };
  }

  async #openStream({ url }: { url: string }): Promise<number> {
    requireReadableUrl(url, this.role);
    const file = await this.#options.service.files.open(url);
    const stream: ByteStream = file.stream();
    const id = this.#nextStream++;
    this.#streams.set(id, stream[Symbol.asyncIterator]());
    return id;
  }

  async #nextChunk({ id }: { id: number }): Promise<Uint8Array | undefined> {
    const next = await this.#streams.get(id)?.next();
    if (next !== undefined && next.done !== true) return Uint8Array.from(next.value);
    this.#streams.delete(id);
    return undefined;
  }

  async #list({ url }: { url: string }): Promise<unknown> {
    requireReadableUrl(url, this.role);
    const { files } = this.#options.service;
    const { dirs, files: urls, facts } = await files.list(url);
    const objects: Record<string, unknown> = {};
    for (const fileUrl of urls) {
      const { sizeBytes: size, lastModified, lastAccessed, ...more } = facts.get(fileUrl) ?? {};
      objects[fileUrl] = {
        exists: facts.has(fileUrl),
        ...dateMember('lastModified', lastModified),
        ...dateMember('lastAccessed', lastAccessed),
        ...(size === undefined ? {} : { size }),
        ...more,
      };
    }
    return { dirs, objects };
  }
}

function dateMember(name: string, seconds: number | undefined): Record<string, string> {
  return seconds !== undefined && Number.isFinite(seconds)
    ? { [name]: printTimestamp(seconds) }
    : {};
}

interface PerformArgument {
  readonly verb: string;
  readonly resource: string;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string;
}

interface ApplyArgument {
  readonly id: string;
  readonly input: TypedInput;
  readonly format: 'json' | 'dated';
}

/** A plain value, or what the scope of scripts has marked as a cell, an array or a row. */
type TypedInput =
  | null
  | number
  | bigint
  | string
  | boolean
  | { readonly $cell: unknown }
  | { readonly $array: readonly TypedInput[] }
  | { readonly $row: readonly (readonly [string, TypedInput])[] };

function inputValue(input: TypedInput): Value {
  if (typeof input !== 'object' || input === null) {
    return new Scalar(atomFromJson(input), NOT_A_DATE);
  }
  if ('$cell' in input) return new Scalar(atomFromJson(input.$cell), NOT_A_DATE);
  if ('$array' in input) {
    return new Row(
      input.$array.map((_, index) => String(index)),
      input.$array.map(inputValue),
    );
  }
  return sortedRow(
    input.$row.map(([name]) => name),
    input.$row.map(([, member]) => inputValue(member)),
  );
}
