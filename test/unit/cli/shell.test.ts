import { spawn } from 'node:child_process';
import { expect, test, vi } from 'vitest';
import { completions, splitStatements } from '../../../src/cli/shell-input.ts';

// Each command is a process of its own, and machines that test are busy.
vi.setConfig({ testTimeout: 90_000 });

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function rowan(args: readonly string[], input: string): Promise<Outcome> {
  const child = spawn(process.execPath, ['dist/cli/rowan.js', ...args]);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  child.stdin.end(input);
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

test('a semicolon ends a statement, but not in texts, names and comments', () => {
  expect(splitStatements(`SELECT ';', "a;b" -- c;\n, /* ; */ 1; SELECT 2;;\nSELECT 3`)).toEqual({
    statements: [`SELECT ';', "a;b" -- c;\n, /* ; */ 1`, 'SELECT 2'],
    rest: 'SELECT 3',
  });
  expect(splitStatements("SELECT 'open; ")).toEqual({ statements: [], rest: "SELECT 'open; " });
  expect(splitStatements("SELECT 'it''s';")).toEqual({ statements: ["SELECT 'it''s'"], rest: '' });
});

test('words are completed in the case that was typed, names first', () => {
  const names = ['trips', 'Selection', 'km'];
  expect(completions('sel', names)).toEqual([['Selection', 'select'], 'sel']);
  expect(completions('SELECT km FROM TR', names)).toEqual([['trips', 'TRUE', 'TRY_CAST'], 'TR']);
  expect(completions('SELECT max(k', names)[0]).toContain('km');
  expect(completions('\\t', names)).toEqual([['\\timing'], '\\t']);
});

test('the shell runs a script', async () => {
  const script = `SELECT 1 AS a,
      2 AS b;
    \\format csv
    SELECT ';' AS s; SELECT 3 AS c
    ;
    \\x
    SELECT 'z' AS letter`;
  expect(await rowan(['shell'], script)).toEqual({
    code: 0,
    stdout:
      '_rowName  a  b\n--------  -  -\nresult    1  2\n(1 row)\n_rowName,s\nresult,;\n_rowName,c\nresult,3\n-- row 1\n_rowName  result\nletter    z\n',
    stderr: '',
  });
});

test('the first statement that fails ends a script with 1', async () => {
  const outcome = await rowan(['shell'], 'SELECT 1 AS a; SELEC 2; SELECT 3 AS never;');
  expect(outcome).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('did you mean SELECT'),
  });
  expect(outcome.stdout).not.toContain('never');
  expect((await rowan(['shell'], '\\nonsense')).stderr).toContain('there is no command \\nonsense');
});

test('query reads standard input and says what it looks at', async () => {
  expect(await rowan(['query', '-', '--format', 'atom'], 'SELECT 6 * 7')).toMatchObject({
    code: 0,
    stdout: '42\n',
  });
  const missing = await rowan(['query', 'SELECT * FROM gone'], '');
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain('an empty service of its own was asked: --url names a server');
  expect((await rowan(['query', 'SELECT 1', '--format', 'xml'], '')).code).toBe(1);
});
