// A server that speaks MongoDB's protocol: `mongo-java-server`, which keeps everything in memory.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { projectRoot } from './project.ts';
import { findProgram } from './services.ts';

/** Where `.ci/run` puts its files. */
const JARS = join(projectRoot, 'build/document-database');
/** The server knows no other. */
const PORT = 27_017;

export interface DocumentDatabase {
  readonly address: string;
  readonly client: MongoClient;
  stop(): Promise<void>;
}

/** A command that starts it. */
export function findDocumentDatabase(): readonly [string, ...string[]] | undefined {
  const java = findProgram('java');
  if (java === undefined || !hasJars()) return undefined;
  return [java, '-Xmx256m', '-cp', join(JARS, '*'), 'de.bwaldvogel.mongo.H2MongoServer'];
}

function hasJars(): boolean {
  try {
    return readdirSync(JARS).some((name) => name.startsWith('mongo-java-server-h2'));
  } catch {
    return false;
  }
}

export async function startDocumentDatabase(): Promise<DocumentDatabase> {
  const [java, ...args] = findDocumentDatabase() ?? [''];
  const server = spawn(java, args, { stdio: 'ignore' });
  await answering(server);
  const address = `mongodb://127.0.0.1:${PORT}`;
  const client = await new MongoClient(address).connect();
  return {
    address,
    client,
    async stop() {
      await client.close();
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill();
      await ended;
    },
  };
}

async function answering(server: ChildProcess): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error('the document database did not start');
    if (await accepts()) return;
    await pause(50);
  }
}

function accepts(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(PORT, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
