// The service's side of scripts: sandboxes, limits, and runs of programs.
import { availableParallelism } from 'node:os';
import type { FileSystem } from '../file/file-system.ts';
import type { Role } from '../service/route/request.ts';
import { callContext } from '../service/route/request-context.ts';
import type { Service } from '../service/service.ts';
import { failure } from '../util/error.ts';
import { parseJson } from '../util/exact-json.ts';
import type { WireValue } from '../value/wire-value.ts';
import type { LogEntry, ModuleExports, ScriptFunction } from './message.ts';
import { Sandbox, type SandboxOptions } from './sandbox.ts';
import { SandboxPool } from './sandbox-pool.ts';
import { loadProgram, type ScriptSource } from './script-config.ts';
import { scriptFailure } from './script-error.ts';
import { ScriptHost, type ScriptHostOptions } from './script-host.ts';

export interface ScriptLimits {
  /** milliseconds that any script may take; default: none for runs, 30 s for handlers */
  readonly timeoutMs?: number;
  /** bytes that the scripts of one sandbox may take; default 512 MiB */
  readonly memoryBytes?: number;
}

export interface ScriptResult {
  readonly result?: unknown;
  readonly logs?: readonly LogEntry[];
}

export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  /** Hears each message at once; all of them are in the result too. */
  onLog?(entry: LogEntry): void;
}

const HANDLER_TIMEOUT_MS = 30_000;
const MEMORY_BYTES = 512 << 20;

export class ScriptRuntime {
  readonly service: Service;
  readonly handlerTimeoutMs: number;
  readonly #runTimeoutMs: number | undefined;
  readonly #sandboxOptions: SandboxOptions;
  readonly #pool: SandboxPool;
  /** directories of plugins that are loaded at start: they may lie where no URL of a user leads */
  readonly startAddresses = new Set<string>();
  /** the address of the HTTP server, empty without one */
  address = '';

  constructor(service: Service, limits: ScriptLimits) {
    this.service = service;
    this.#runTimeoutMs = limits.timeoutMs;
    this.handlerTimeoutMs = limits.timeoutMs ?? HANDLER_TIMEOUT_MS;
    this.#sandboxOptions = {
      memoryBytes: limits.memoryBytes ?? MEMORY_BYTES,
      onDefect: (message, stack) => service.logger.error({ logger: 'script', stack }, message),
    };
    const computingCountMax = Math.max(2, availableParallelism());
    this.#pool = new SandboxPool({ ...this.#sandboxOptions, computingCountMax });
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  /** What a program's address is read through. */
  filesFor(address: string | undefined): FileSystem {
    const { files, startFiles } = this.service;
    return address !== undefined && this.startAddresses.has(address) ? startFiles : files;
  }

  makeSandbox(): Sandbox {
    return new Sandbox(this.#sandboxOptions);
  }

  makeHost(options: Omit<ScriptHostOptions, 'service' | 'address'>): ScriptHost {
    return new ScriptHost({ service: this.service, address: () => this.address, ...options });
  }

  /**
   * Runs a program in a scope of its own, with all rights.
   * @throws SCRIPT_EXCEPTION with the exception and the logs; TIMEOUT, OUT_OF_MEMORY, CANCELLED
   */
  async run(config: ScriptSource, { signal, onLog }: RunOptions = {}): Promise<ScriptResult> {
    const { program } = await loadProgram(config, this.service.files, 'script');
    const host = this.makeHost({
      role: 'admin',
      owner: 'script',
      ...(onLog === undefined ? {} : { onLog }),
    });
    try {
      const outcome = await this.#pool.call('script', program, {
        host,
        timeLimitMs: this.#runTimeoutMs,
        signal,
      });
      const { logs } = outcome;
      if ('exception' in outcome) throw scriptFailure(outcome.exception, logs);
      return {
        ...(outcome.result === undefined ? {} : { result: parseResult(outcome.result) }),
        ...(logs.length === 0 ? {} : { logs }),
      };
    } finally {
      await host.close();
    }
  }

  /** Calls a function of a query for many lists of arguments, with the rights of the caller. */
  async callFunction(
    scriptFunction: ScriptFunction,
    calls: readonly (readonly WireValue[])[],
  ): Promise<readonly WireValue[]> {
    const context = callContext();
    const role: Role = context?.role ?? 'reader';
    const host = this.makeHost({ role, owner: 'jseval' });
    try {
      const outcome = await this.#pool.call(
        'calls',
        { function: scriptFunction, calls },
        { host, timeLimitMs: this.handlerTimeoutMs, signal: context?.signal },
      );
      if (!('exception' in outcome)) return outcome.result;
      const { exception, whileCompiling } = outcome;
      const thrown = exception.message.replace(/^Uncaught /, '');
      const message = whileCompiling
        ? `Exception compiling jseval script: ${thrown}`
        : `Javascript jseval script threw exception: ${thrown}`;
      throw failure('SQL_EXECUTION', message, { exception });
    } finally {
      await host.close();
    }
  }

  /** What a module of scripts exports. */
  describeModule(name: string): Promise<ModuleExports> {
    const host = this.makeHost({ role: 'open', owner: 'documentation' });
    return this.#pool.call('module', { name }, { host, timeLimitMs: this.handlerTimeoutMs });
  }
}

/** @throws SCRIPT_EXCEPTION for what no reply can hold, as it is nested too deep */
export function parseResult(text: string): unknown {
  try {
    return parseJson(text);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw failure('SCRIPT_EXCEPTION', `the value of the script cannot be answered: ${reason}`);
  }
}
