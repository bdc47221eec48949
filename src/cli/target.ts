// Where a command works: on a server elsewhere, or on a service of its own over a data directory.
import type { Command } from 'commander';
import type { Rowan } from '../index.ts';
import { failCommand, openFailureCode } from './exit.ts';
import { loadService } from './load-service.ts';

export interface TargetOptions {
  readonly url?: string;
  readonly key?: string;
  readonly dataDir: string;
}

/** One call of the REST interface; the body is what arrived, in pieces. */
export interface Answer {
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface Target {
  call(verb: string, path: string, body?: unknown): Promise<Answer>;
  close(): Promise<void>;
}

export function addTargetOptions(command: Command): Command {
  return command
    .option('--url <url>', 'server to ask, for example http://127.0.0.1:8080')
    .option('--key <key>', 'API key for the server (or ROWAN_API_KEY)')
    .option('--data-dir <dir>', 'data directory to work on without a server; none: empty', 'none')
    .helpOption('--help', 'print this page');
}

export async function openTarget(options: TargetOptions): Promise<Target> {
  if (options.url !== undefined) return new ServerTarget(options.url, options.key);
  const { Rowan } = await loadService(() => import('../index.ts'));
  try {
    const dataDir = options.dataDir === 'none' ? null : options.dataDir;
    return new OwnTarget(await Rowan.open({ dataDir }));
  } catch (thrown) {
    return failCommand(thrown, openFailureCode(thrown));
  }
}

class ServerTarget implements Target {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, key = process.env.ROWAN_API_KEY) {
    this.#url = url.replace(/\/$/, '');
    this.#headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  }

  async call(verb: string, path: string, body?: unknown): Promise<Answer> {
    const reply = await fetch(this.#url + path, {
      method: verb,
      headers: { ...this.#headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: (reply.body ?? []) as AsyncIterable<Uint8Array> };
  }

  async close(): Promise<void> {}
}

class OwnTarget implements Target {
  readonly #rowan: Rowan;

  constructor(rowan: Rowan) {
    this.#rowan = rowan;
  }

  async call(verb: string, path: string, body?: unknown): Promise<Answer> {
    const { status, bytes } = await this.#rowan.perform(verb, path, { body });
    return {
      status,
      body: (async function* () {
        yield bytes;
      })(),
    };
  }

  close(): Promise<void> {
    return this.#rowan.close();
  }
}

export async function readAnswer({ body }: Answer): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

/** The message of a reply that is no 2xx. */
export async function answerError(answer: Answer): Promise<string> {
  const text = await readAnswer(answer);
  try {
    const { error, details } = JSON.parse(text) as {
      error: string;
      details?: { runError?: { error: string } };
    };
    return details?.runError === undefined ? error : `${error}: ${details.runError.error}`;
  } catch {
    return `${answer.status} ${text}`;
  }
}
