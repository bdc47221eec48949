// The command line as people and scripts use it.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Rowan } from '../../../src/index.ts';

// Each command is a process of its own, and machines that test are busy.
vi.setConfig({ testTimeout: 90_000 });

let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowan-cli-'));
});

afterAll(() => rm(dir, { recursive: true, force: true }));

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function rowan(...args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['dist/cli/rowan.js', ...args], (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });
}

test('query prints lines of JSON to a program', async () => {
  expect(await rowan('query', 'SELECT 1 + 1 AS two')).toMatchObject({
    code: 0,
    stdout: '{"_rowName":"result","two":2}\n',
  });
});

test('query says on standard error what is probably wrong', async () => {
  const outcome = await rowan('query', 'SELECT ab FROM (SELECT 1 AS a) AS t');
  expect(outcome).toMatchObject({ code: 0, stdout: '{"_rowName":"result","ab":null}\n' });
  expect(outcome.stderr).toBe(
    "warning UNKNOWN_COLUMN at 1:8: 't' does not have a column 'ab': it is NULL in every row; write a\n",
  );
});

test('a faulty query ends with 1 and its message', async () => {
  const outcome = await rowan('query', 'SELEC 1');
  expect(outcome.code).toBe(1);
  expect(outcome.stderr).toContain('did you mean SELECT');
});

test('import and export carry a table through a data directory', async () => {
  const dataDir = join(dir, 'data');
  await writeFile(join(dir, 'in.csv'), 'a,b\n1,x\n2,y\n');
  const imported = await rowan('import', join(dir, 'in.csv'), 't', '--data-dir', dataDir);
  expect(imported).toMatchObject({ code: 0, stdout: '{"rowCount":2,"numLineErrors":0}\n' });
  const exported = await rowan(
    'export',
    'SELECT a, b FROM t ORDER BY a',
    join(dir, 'out.csv'),
    ...['--data-dir', dataDir],
  );
  expect(exported).toMatchObject({ code: 0, stdout: '{"rowCount":2}\n' });
  expect(await readFile(join(dir, 'out.csv'), 'utf8')).toBe('a,b\n1,x\n2,y\n');
});

test('an export to - goes to standard output, alone and whole', async () => {
  const dataDir = join(dir, 'data');
  const where = ['--data-dir', dataDir];
  await writeFile(join(dir, 'in.csv'), 'a,b\n1,x\n2,y\n');
  await rowan('import', join(dir, 'in.csv'), 't', ...where);
  const sql = 'SELECT a, b FROM t ORDER BY a';
  expect(await rowan('export', sql, '-', ...where)).toMatchObject({
    code: 0,
    stdout: 'a,b\n1,x\n2,y\n',
  });
  expect(await rowan('export', sql, '-', '--format', 'ndjson', ...where)).toMatchObject({
    code: 0,
    stdout: '{"a":1,"b":"x"}\n{"a":2,"b":"y"}\n',
  });
  const refused = await rowan('export', 'SELECT nothing(a) FROM t', '-', ...where);
  expect([refused.code === 0, refused.stdout]).toEqual([false, '']);
});

test.each([
  ['out.tsv', 'a\tb\n1\tx\n2\ty\n'],
  ['out.json', '[{"a":1,"b":"x"},{"a":2,"b":"y"}]\n'],
  ['out.ndjson', '{"a":1,"b":"x"}\n{"a":2,"b":"y"}\n'],
  ['out.jsonl.gz', '{"a":1,"b":"x"}\n{"a":2,"b":"y"}\n'],
])('the suffix of %s says what an export writes', async (name, content) => {
  const select = "SELECT value AS a, CASE value WHEN 1 THEN 'x' ELSE 'y' END AS b";
  const sql = `${select} FROM row_dataset({p: 1, q: 2}) ORDER BY value`;
  expect(await rowan('export', sql, join(dir, name))).toMatchObject({ code: 0 });
  const bytes = await readFile(join(dir, name));
  expect((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()).toBe(content);
});

test('an export has timestamps as text when asked', async () => {
  const file = join(dir, 'times.ndjson');
  const sql = "SELECT TIMESTAMP '2024-01-01' AS t";
  expect((await rowan('export', sql, file, '--timestamps', 'iso')).code).toBe(0);
  expect(await readFile(file, 'utf8')).toBe('{"t":"2024-01-01T00:00:00Z"}\n');
});

test.each(['out.arrow', 'out.arrows', 'out.parquet', 'out.tsv'])(
  'what is exported as %s is imported under its name',
  async (name) => {
    const file = join(dir, name);
    const dataDir = join(dir, `data-${name}`);
    const where = ['--data-dir', dataDir];
    await writeFile(join(dir, 'seven.ndjson'), '{"a":7,"b":"x"}\n');
    expect((await rowan('import', join(dir, 'seven.ndjson'), ...where)).code).toBe(0);
    const exported = await rowan('export', 'SELECT a, b FROM seven', file, ...where);
    expect(exported).toMatchObject({ code: 0, stdout: '{"rowCount":1}\n' });
    expect((await rowan('import', file, ...where)).code).toBe(0);
    const query = await rowan('query', 'SELECT a, b FROM out', '--format', 'aos', ...where);
    expect(JSON.parse(query.stdout)).toMatchObject([{ a: 7, b: 'x' }]);
  },
);

test('an export to .arrow has a footer, one to .arrows has none', async () => {
  const bytes = async (name: string) => (await readFile(join(dir, name))).toString('latin1');
  expect((await bytes('out.arrow')).slice(-6)).toBe('ARROW1');
  expect((await bytes('out.arrows')).startsWith('ARROW1')).toBe(false);
});

test.each([
  ['export', 'SELECT 1 AS a', 'out.orc', '.arrow'],
  ['export', 'SELECT 1 AS a', 'out', '--format'],
  ['import', 'in.orc', 't', '.tsv'],
  ['import', 'in.sav.gz', 't', '.csv'],
])('%s refuses what it cannot hold: %s %s', async (command, first, second, says) => {
  const outcome = await rowan(command, first, second, '--data-dir', join(dir, 'untouched'));
  expect([outcome.code, outcome.stderr]).toEqual([1, expect.stringContaining(says)]);
  expect(existsSync(join(dir, 'untouched'))).toBe(false);
});

test('what only reads makes no data directory', async () => {
  const where = ['--data-dir', join(dir, 'mistyped')];
  expect((await rowan('query', 'SELECT 1', ...where)).code).toBe(2);
  expect((await rowan('export', 'SELECT 1', join(dir, 'x.json'), ...where)).code).toBe(2);
  expect(existsSync(join(dir, 'mistyped'))).toBe(false);
});

test('a reader that stops early is no failure', async () => {
  const child = spawn(process.execPath, [
    ...['dist/cli/rowan.js', 'query'],
    `SELECT '${'x'.repeat(1000)}' AS x FROM ${Array.from({ length: 6 }, (_, i) => `row_dataset({a:1,b:2,c:3,d:4,e:5}) AS t${i}`).join(' JOIN ')}`,
  ]);
  let stderr = '';
  child.stderr.on('data', (part) => {
    stderr += part;
  });
  child.stdout.once('data', () => child.stdout.destroy());
  const [code] = (await once(child, 'close')) as [number | null];
  expect([code, stderr]).toEqual([0, '']);
});

test.each(['-', '/dev/stdin'])('import reads standard input as %s', async (name) => {
  const dataDir = join(dir, `input${name.length}`);
  const args = ['dist/cli/rowan.js', 'import', name, 't', '--data-dir', dataDir];
  const child = spawn(process.execPath, args);
  child.stdin.end('a,b\n1,x\n2,y\n');
  let stdout = '';
  child.stdout.on('data', (part) => {
    stdout += part;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  expect([code, stdout]).toEqual([0, '{"rowCount":2,"numLineErrors":0}\n']);
});

test('standard input goes to a server as an upload, which is gone afterwards', async () => {
  const service = await Rowan.open({ dataDir: join(dir, 'uploaded'), workers: 1 });
  try {
    const url = await service.listen({ port: 0 });
    const child = spawn(process.execPath, ['dist/cli/rowan.js', 'import', '-', 't', '--url', url]);
    child.stdin.end('a,b\n1,x\n2,y\n');
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code).toBe(0);
    expect(await service.query('SELECT sum(a) AS s FROM t', { format: 'atom' })).toBe(3);
    expect((await service.get('/v1/uploads')).json).toEqual([]);
    expect((await service.get('/v1/procedures')).json).toEqual([]);
  } finally {
    await service.close();
  }
});

test('import reads several files into one dataset', async () => {
  const where = ['--data-dir', join(dir, 'several')];
  const files = ['one.csv', 'two.csv'].map((name) => join(dir, name));
  for (const [i, file] of files.entries()) await writeFile(file, `a,b\n${i},x\n`);
  const count = async (dataset: string) =>
    (await rowan('query', `SELECT count(*) AS n FROM ${dataset}`, '--format', 'atom', ...where))
      .stdout;
  // The tests run where a folder has that name.
  expect(await rowan('import', ...files, 'src', ...where)).toMatchObject({ code: 0 });
  expect(await count('src')).toBe('2\n');
  expect(await rowan('import', ...files, ...where)).toMatchObject({ code: 0 });
  expect(await count('one')).toBe('2\n');
  expect(await rowan('import', files[0] as string, 'x.json', ...where)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('x.json: files of one import have one format'),
  });
  expect(await rowan('import', files[0] as string, '-', ...where)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('standard input is imported alone'),
  });
});

test('an import that is refused leaves no procedure', async () => {
  const dataDir = join(dir, 'refused');
  const service = await Rowan.open({ dataDir, workers: 1 });
  try {
    const url = await service.listen({ port: 0 });
    const params = ['--params', '{"delimeter": ";"}'];
    const outcome = await rowan('import', join(dir, 'in.csv'), 't', '--url', url, ...params);
    expect([outcome.code, outcome.stderr]).toEqual([1, expect.stringContaining('delimeter')]);
    expect((await service.get('/v1/procedures')).json).toEqual([]);
  } finally {
    await service.close();
  }
});

test('an import that nothing would keep is refused', async () => {
  const outcome = await rowan('import', join(dir, 'in.csv'), 't');
  expect([outcome.code, outcome.stderr]).toEqual([1, expect.stringContaining('--data-dir')]);
});

test.each([
  ['--watchdog-timeout', 'soon', 'A number of seconds'],
  ['--shutdown-grace', '-3', 'A number of seconds'],
  ['--memory', 'much', 'A number of bytes'],
  ['--watchdog-timeout', '9999999', 'At most'],
  ['--query-timeout', '99999999999', 'At most'],
  ['--keep-alive-timeout', '0', 'A whole number'],
])('%s %s is no value', async (option, value, says) => {
  const outcome = await rowan('serve', option, value);
  expect([outcome.code, outcome.stderr]).toEqual([1, expect.stringContaining(says)]);
});

test('help of serve fits a page and names the environment once', async () => {
  const { stdout } = await rowan('serve', '--help');
  expect(stdout.match(/ROWAN_/g)).toHaveLength(1);
  expect(stdout).toContain('(default: 11700-18000)');
  expect(stdout).not.toMatch(/default: (false|\[\])/);
});

test('what a script says is printed as it says it', async () => {
  const path = join(dir, 'slow.js');
  await writeFile(
    path,
    `mldb.log('first', args.n); const end = Date.now() + 1500; while (Date.now() < end);
    mldb.log('second');`,
  );
  const child = spawn(process.execPath, [
    ...['dist/cli/rowan.js', 'run', path, '--script-args', '{"n": 1}'],
    ...['--http-listen-port', '0', '--data-dir', 'none'],
  ]);
  const times = new Map<string, number>();
  child.stdout.on('data', (part) => {
    for (const line of String(part).trim().split('\n')) times.set(line, performance.now());
  });
  const [code] = (await once(child, 'close')) as [number | null];
  expect([code, ...times.keys()]).toEqual([0, 'first 1', 'second']);
  expect((times.get('second') ?? 0) - (times.get('first 1') ?? 0)).toBeGreaterThan(1000);
});

test('run executes a script and ends', async () => {
  await writeFile(join(dir, 'good.js'), 'mldb.log(mldb.query("SELECT 7 AS x")[0].columns[0][1]);');
  await writeFile(join(dir, 'bad.js'), 'throw new Error("no luck")');
  const port = ['--http-listen-port', '0', '--data-dir', 'none'];
  expect(await rowan('run', join(dir, 'good.js'), ...port)).toMatchObject({
    code: 0,
    stdout: '7\n',
  });
  const failed = await rowan('run', join(dir, 'bad.js'), ...port);
  expect(failed.code).toBe(1);
  expect(failed.stderr).toContain('no luck');
  expect((await rowan('run', join(dir, 'x.txt'), ...port)).stderr).toContain(
    'Unsupported extension',
  );
});

test('keys are made, listed without the key, and revoked', async () => {
  const where = ['--data-dir', join(dir, 'keyed')];
  const made = await rowan('keys', 'create', '--role', 'admin', '--name', 'n', ...where);
  expect(made.stdout).toMatch(/^rwn_[\w-]{43}\n$/);
  const listed = await rowan('keys', 'list', ...where);
  const { id, role } = JSON.parse(listed.stdout) as { id: string; role: string };
  expect(role).toBe('admin');
  expect(listed.stdout).not.toContain(made.stdout.trim());
  expect(await rowan('keys', 'revoke', id, ...where)).toMatchObject({
    code: 0,
    stderr: 'no admin key is left\n',
  });
  expect((await rowan('keys', 'list', ...where)).stdout).toBe('');
  expect((await rowan('keys', 'revoke', id, ...where)).code).toBe(1);
});

test('a public address without keys is refused with the way to make one', async () => {
  const outcome = await rowan(
    'serve',
    ...['--http-listen-host', '0.0.0.0', '--http-listen-port', '0', '--data-dir', 'none'],
  );
  expect(outcome.code).toBe(1);
  expect(outcome.stderr).toContain('rowan keys create');
});

test('keys need a directory that keeps them, and take it from the environment', async () => {
  const refused = await rowan('keys', 'create', '--role', 'admin', '--data-dir', 'none');
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('keeps no keys')]);
  const where = join(dir, 'named');
  vi.stubEnv('ROWAN_DATA_DIR', where);
  expect((await rowan('keys', 'create', '--role', 'admin')).code).toBe(0);
  vi.unstubAllEnvs();
  expect((await rowan('keys', 'list', '--data-dir', where)).stdout).toContain('"role":"admin"');
});

test('an unknown command is told the known ones', async () => {
  const outcome = await rowan('quarry', 'SELECT 1');
  expect(outcome.code).toBe(1);
  expect(outcome.stderr).toContain("unknown command 'quarry'; there are serve, run, query");
});

test('unknown options and impossible values end with 1', async () => {
  expect((await rowan('serve', '--no-such-option')).code).toBe(1);
  expect((await rowan('serve', '--num-threads', '3')).code).toBe(1);
  expect((await rowan('serve', '--http-listen-port', '99999')).code).toBe(1);
});

test('help and version go to standard output', async () => {
  const commands = [[], ['serve'], ['run'], ['query'], ['import'], ['export'], ['keys']];
  for (const { code, stdout } of await Promise.all(
    commands.map((each) => rowan(...each, '--help')),
  )) {
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: rowan');
  }
  expect((await rowan('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});
