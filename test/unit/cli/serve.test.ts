// `rowan serve` as a process: what it prints, how it starts, refuses and ends.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

// Each server is a process of its own, and machines that test are busy.
vi.setConfig({ testTimeout: 90_000 });

let folder: string;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rowan-serve-'));
});

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

interface Served {
  readonly child: ChildProcess;
  readonly address: string;
  readonly output: () => string;
}

function launch(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, ['dist/cli/rowan.js', 'serve', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  let all = '';
  child.stderr.on('data', (part) => {
    all += part;
  });
  child.stdout.on('data', (part) => {
    all += part;
  });
  return { child, output: () => all };
}

/** Starts a server on a free port, and waits until it says that it is ready. */
async function serve(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const { child, output } = launch(['-p', '0', ...args], env);
  await vi.waitFor(() => expect(output()).toContain('Rowan ready\n'), { timeout: 30_000 });
  const address = /^http listening on (http:\/\/\S+)\nRowan ready$/m.exec(output())?.[1] as string;
  return { child, address, output };
}

function get(url: string, agent?: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = agent === undefined ? {} : { agent };
    request(url, options, resolve).on('error', reject).end();
  });
}

async function exitCode(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}

async function refusal(...args: string[]): Promise<{ code: number | null; text: string }> {
  const { child, output } = launch(args);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, text: output() };
}

test('serves until it is told to end', async () => {
  const { child, address } = await serve(['--data-dir', 'none']);
  expect(await (await fetch(`${address}/ping`)).json()).toBe('1');
  child.kill('SIGTERM');
  expect(await exitCode(child)).toBe(0);
});

test('ends by REST', async () => {
  const { child, address } = await serve(['--data-dir', 'none']);
  await fetch(`${address}/v1/shutdown`, { method: 'POST' });
  expect(await exitCode(child)).toBe(0);
});

test('a data directory belongs to one server at a time', async () => {
  const where = ['--data-dir', join(folder, 'shared')];
  const first = await serve(where);
  const second = await refusal('-p', '0', ...where);
  expect(second.code).toBe(2);
  first.child.kill('SIGTERM');
  expect(await exitCode(first.child)).toBe(0);
  const third = await serve(where);
  third.child.kill('SIGTERM');
  expect(await exitCode(third.child)).toBe(0);
});

test('a data directory that cannot be one ends with 2', async () => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  const { code, text } = await refusal('-p', '0', '--data-dir', join(file, 'below'));
  expect([code, text]).toEqual([2, expect.stringContaining(file)]);
});

test('a port that is taken ends with 1', async () => {
  const { child, address } = await serve(['--data-dir', 'none']);
  const taken = await refusal('-p', new URL(address).port, '--data-dir', 'none');
  expect(taken).toMatchObject({ code: 1, text: expect.stringContaining('in use') });
  child.kill('SIGTERM');
});

test.each([
  ['a public address without keys', ['-h', '0.0.0.0'], 'rowan keys create'],
  ['an unknown option', ['--speed', 'high'], 'unknown option'],
  ['a missing value', ['--http-listen-port'], 'argument missing'],
  ['a port that is none', ['-p', 'http'], 'neither a number'],
  ['too few threads', ['-t', '2'], 'at least 4'],
  ['a faulty credential', ['--add-credential', '{'], 'not JSON'],
  ['a folder for copies that cannot be made', ['--cache-dir', '/dev/null/x'], '--cache-dir: '],
  ['replicas without a data directory', ['--replicas', '2'], 'share a data directory'],
])('%s: exit code 1', async (_, args, says) => {
  const { code, text } = await refusal('-p', '0', '--data-dir', 'none', ...args);
  expect(text).toContain(says);
  expect(code).toBe(1);
});

test('help and version are no failures', async () => {
  const help = await refusal('--help');
  expect(help.code).toBe(0);
  for (const option of ['--http-listen-port', '--data-dir', '--query-timeout', '--cors-origin']) {
    expect(help.text).toContain(option);
  }
});

test('options come from the environment and a file, levels for each component', async () => {
  const path = join(folder, 'rowan.ini');
  const lines = [
    ...['# a comment', 'enable-access-log=true', 'http-base-url=/behind'],
    ...['[logging]', 'level=warn', 'http.level=info', 'MLDB::Service.level=debug'],
  ];
  await writeFile(path, `${lines.join('\n')}\n`);
  const { child, address, output } = await serve(['--config-path', path, '--log-format', 'json'], {
    ROWAN_DATA_DIR: 'none',
  });
  await fetch(`${address}/ping?secret=1`, { headers: { 'X-Request-Id': 'mine' } });
  await vi.waitFor(() => expect(output()).toContain('"requestId":"mine"'));
  const line = output()
    .split('\n')
    .find((text) => text.includes('"mine"')) as string;
  expect(JSON.parse(line)).toMatchObject({
    logger: 'http',
    verb: 'GET',
    path: '/ping',
    status: 200,
  });
  expect(line).not.toContain('secret');
  expect(output()).toContain("'MLDB::Service.level' has no meaning");
  const page = await fetch(`${address}/doc/`);
  expect(await page.text()).toContain('href="/behind/doc/style.css"');
  child.kill('SIGINT');
  expect(await exitCode(child)).toBe(0);
});

test('what a client may do is limited by options', async () => {
  const path = join(folder, 'limits.ini');
  await writeFile(
    path,
    '\uFEFFfile-root=/nowhere\r\nfile-root=/elsewhere\r\nmax-connections=1\r\n',
  );
  const { child, address } = await serve(['--data-dir', 'none', '--config-path', path], {
    ROWAN_KEEP_ALIVE_TIMEOUT: '7000',
    ROWAN_ENABLE_ACCESS_LOG: 'no',
  });
  const agent = new Agent({ keepAlive: true });
  const first = await get(`${address}/ping`, agent);
  expect([first.headers['keep-alive'], await text(first)]).toEqual(['timeout=7', '"1"']);
  expect((await get(`${address}/ping`)).statusCode).toBe(503);
  for (const root of ['nowhere', 'elsewhere']) {
    const q = encodeURIComponent(`SELECT fetcher('file:///${root}/x')[error] AS e`);
    const reply = await get(`${address}/v1/query?format=atom&q=${q}`, agent);
    expect(await text(reply)).toContain('No such file');
  }
  agent.destroy();
  child.kill('SIGTERM');
  expect(await exitCode(child)).toBe(0);
});

test('a watchdog says why the process ends', async () => {
  const { code, text } = await refusal(
    ...['-p', '0', '--data-dir', 'none', '--watchdog-timeout', '0.01'],
  );
  expect([code, text]).toEqual([1, expect.stringContaining('--watchdog-timeout')]);
});

test.each([
  ['[server]', 'unknown section [server]'],
  ['speed=9', "'speed' is no option"],
  ['log-format=xml', 'log-format: Allowed choices'],
  ['enable-access-log=perhaps', 'enable-access-log: yes or no'],
  ['keep-alive-timeout', 'neither option=value'],
])('%s in a configuration file is refused with its line', async (line, says) => {
  const path = join(folder, 'faulty.ini');
  await writeFile(path, `# a comment\n${line}\n`);
  const { code, text } = await refusal('-p', '0', '--data-dir', 'none', '--config-path', path);
  expect([code, text]).toEqual([1, expect.stringContaining(says)]);
  expect(text).toContain('faulty.ini:2');
});

test('switches in the environment say yes or no', async () => {
  const { child, output } = launch(['-p', '0', '--data-dir', 'none', '-h', '0.0.0.0'], {
    ROWAN_ALLOW_UNAUTHENTICATED: 'false',
  });
  expect(await exitCode(child)).toBe(1);
  expect(output()).toContain('rowan keys create');
});

test('lines name level, component and the request that they are about', async () => {
  const { child, address, output } = await serve(['--data-dir', 'none', '--log-format', 'json']);
  const params = { expression: 'no_such_function(x)', prepared: true };
  await fetch(`${address}/v1/functions/f`, {
    method: 'PUT',
    headers: { 'X-Request-Id': 'built', async: 'true' },
    body: JSON.stringify({ type: 'sql.expression', params }),
  });
  const inputData = 'SELECT no_such_function(1) AS x FROM row_dataset({a: 1})';
  await fetch(`${address}/v1/procedures/p`, {
    method: 'PUT',
    headers: { 'X-Request-Id': 'started' },
    body: JSON.stringify({ type: 'transform', params: { inputData, outputDataset: 'o' } }),
  });
  await fetch(`${address}/v1/procedures/p/runs`, {
    method: 'POST',
    headers: { 'X-Request-Id': 'ran' },
    body: '{}',
  });
  await vi.waitFor(() => expect(output()).toContain('"requestId":"ran"'));
  const lines = output()
    .split('\n')
    .filter((text) => text.startsWith('{'))
    .map((text) => JSON.parse(text));
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 'warn', logger: 'function', requestId: 'built' }),
  );
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 'warn', logger: 'transform', requestId: 'ran' }),
  );
  child.kill('SIGTERM');
  expect(await exitCode(child)).toBe(0);
});

test('an unknown log level is refused', async () => {
  const path = join(folder, 'loud.ini');
  await writeFile(path, '[logging]\nlevel=loud\n');
  const { code, text } = await refusal('-p', '0', '--data-dir', 'none', '--config-path', path);
  expect([code, text]).toEqual([1, expect.stringContaining("unknown log level 'loud'")]);
});

test('the process has the name of the command', async () => {
  const { child } = await serve(['--data-dir', 'none']);
  const { stdout } = await promisify(execFile)('ps', ['-o', 'comm=', '-p', String(child.pid)]);
  expect(stdout.trim()).toBe('rowan');
  child.kill();
});

test('npm start ends its server when it is told to end', async () => {
  const child = spawn('npm', ['start', '--', '-p', '0', '--data-dir', 'none'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (part) => {
    output += part;
  });
  await vi.waitFor(() => expect(output).toContain('Rowan ready'), { timeout: 60_000 });
  const address = /http listening on (\S+)/.exec(output)?.[1] as string;
  child.kill('SIGTERM');
  const answer = () =>
    fetch(`${address.replace(/\/$/, '')}/ping`, { headers: { connection: 'close' } });
  await vi.waitFor(() => expect(answer()).rejects.toThrow('fetch failed'), { timeout: 30_000 });
});
