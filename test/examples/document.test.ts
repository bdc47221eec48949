// The documents do what they say: every block runs, in order, against a server of its own, and
// answers what is shown below it.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { format, promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Rowan } from '../../src/index.ts';
import { parseJson } from '../../src/util/exact-json.ts';
import { type Block, blocksOf, isAsShown, isJsonAsShown } from '../support/document.ts';
import { projectFiles, projectRoot, readProjectFile } from '../support/project.ts';
import { findPython, runPython } from '../support/python.ts';
import { canTest } from '../support/services.ts';

const run = promisify(execFile);

/** Where documents say that the server is. */
const ADDRESS = 'http://127.0.0.1:8080';

const POSTGRESQL = 'docs/guide/12-postgresql.md';
const CLICKHOUSE = 'docs/guide/13-clickhouse.md';
const DOCDB = 'docs/guide/11-document-databases.md';

/** Blocks that do not run, by how they begin, each with the reason. */
const NOT_RUN: readonly (readonly [document: string, start: string, why: string])[] = [
  ['README.md', 'npm start', 'a server that stays; the demo is tested with it'],
  ['README.md', 'npm run build', 'this test is a part of it'],
  ['docs/guide/1-getting-started.md', 'npm start', 'a server that stays'],
  ['docs/guide/1-getting-started.md', 'rowan serve', 'a server that stays'],
  ['docs/guide/15-python.md', 'pip install', 'fetches packages; .ci/run does'],
  ['docs/guide/8-operation.md', 'rowan serve', 'servers that stay; test/unit/cli starts them'],
  ['docs/guide/8-operation.md', 'kill', 'ends the server; test/crash does it for real'],
  [POSTGRESQL, `curl -G ${ADDRESS}/v1/query`, 'asks a database; test/remote does'],
  [POSTGRESQL, `curl -X PUT ${ADDRESS}/v1/procedures`, 'asks a database; test/remote does'],
  [POSTGRESQL, `curl -G ${ADDRESS}/v1/functions`, 'asks a database; test/remote does'],
  [CLICKHOUSE, `curl -G ${ADDRESS}/v1/query`, 'asks a database; test/remote does'],
  [CLICKHOUSE, 'SELECT country, avg(churn(', 'asks a database; test/remote does'],
  [CLICKHOUSE, 'SELECT p.brand, count(*)', 'asks a database; test/remote does'],
  [CLICKHOUSE, `curl -X PUT ${ADDRESS}/v1/procedures`, 'asks a database; test/remote does'],
  [DOCDB, `curl -G ${ADDRESS}/v1/query`, 'asks a database; test/remote does'],
  [DOCDB, `curl -X PUT ${ADDRESS}/v1/procedures`, 'asks a database; test/remote does'],
  [DOCDB, `curl -G ${ADDRESS}/v1/functions`, 'asks a database; test/remote does'],
];

const DOCUMENTS = projectFiles(/^(README|docs\/.+)\.md$/).filter(
  (path) => blocksOf(readProjectFile(path)).length > 0,
);
/** between the outputs of two blocks of Python */
const END_OF_BLOCK = '-- end of block --';
const MODULES = join(projectRoot, 'build/examples');

describe.each(DOCUMENTS)('%s', (document) => {
  const blocks = blocksOf(readProjectFile(document));
  const stem = document.replaceAll('/', '-').replace(/\.md$/, '');
  const modules = blocks.filter(({ language }) => language === 'ts');
  const scripts = blocks.filter(({ language }) => language === 'python');
  const home = process.cwd();
  let folder: string;
  let rowan: Rowan;
  let address: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rowan-document-'));
    await symlink(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
    await writeCommand(folder);
    process.chdir(folder);
    rowan = await Rowan.open({ dataDir: join(folder, 'rowan_data'), workers: 2 });
    address = await rowan.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    await rowan?.close();
    process.chdir(home);
    await rm(folder, { recursive: true, force: true });
  });

  const place = (text: string) => text.replaceAll(ADDRESS, address);
  const isNotRun = (block: Block) =>
    NOT_RUN.some(([name, start]) => name === document && block.text.startsWith(start));

  for (const block of blocks.filter((candidate) => !isNotRun(candidate))) {
    if (block.language === 'ts' || block.language === 'python') continue;
    test(`line ${block.line}: ${block.text.split('\n', 1)[0]}`, () => runBlock(block), 120_000);
  }

  // The blocks of a page are one program.
  if (modules.length > 0)
    test('TypeScript', async () => {
      const lines: string[] = [];
      const spy = vi.spyOn(console, 'log').mockImplementation((...args) => {
        lines.push(format(...args));
      });
      vi.stubGlobal('isShown', (shown: string) => {
        const text = (lines.at(-1) ?? '').replace(/\s*\n\s*/g, ' ');
        expect(isAsShown(shown, text), `shown: ${shown}\nfound: ${text}`).toBe(true);
      });
      try {
        const file = join(MODULES, `${stem}.run.ts`);
        await writeModule(file, place(withChecks(modules)));
        await import(file);
      } finally {
        spy.mockRestore();
        vi.unstubAllGlobals();
      }
    }, 120_000);

  if (scripts.length > 0)
    test.runIf(canTest('Python client', findPython()))(
      'Python',
      async () => {
        const file = join(folder, `${stem}.py`);
        const ends = scripts.map(({ text }) => `${place(text)}\nprint(end="${END_OF_BLOCK}")\n`);
        await writeFile(file, ends.join(''));
        const outputs = (await runPython([file])).split(END_OF_BLOCK);
        for (const [index, { reply }] of scripts.entries()) {
          const output = (outputs[index] ?? '').replace(/ +$/gm, '');
          if (reply !== undefined) expect(output.trim()).toBe(reply.text.trim());
        }
      },
      120_000,
    );

  async function runBlock({ language, file, text, reply }: Block): Promise<void> {
    if (file !== undefined) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), place(text));
      return;
    }
    const output = await runText(language, place(text), reply !== undefined);
    if (reply === undefined) return;
    const shown = place(reply.text);
    if (reply.language === 'text') {
      expect(isAsShown(shown, output), `shown:\n${shown}\nfound:\n${output}`).toBe(true);
      return;
    }
    const found = parseJson(output);
    if (!isJsonAsShown(parseJson(shown), found)) expect(found).toEqual(parseJson(shown));
  }

  async function runText(language: string, text: string, mayFail: boolean): Promise<string> {
    switch (language) {
      case 'sh':
        return runShell(text, mayFail);
      case 'sql':
        return JSON.stringify(await rowan.query(text, { format: 'aos', rowNames: false }));
      case 'http':
        return sendAll(text);
      case 'js': {
        const path = '/v1/types/plugins/javascript/routes/run';
        const { status, json } = await rowan.post<{ result?: unknown }>(path, { source: text });
        expect(status, JSON.stringify(json)).toBe(200);
        return JSON.stringify(json.result ?? null);
      }
      default:
        throw new Error(`nobody knows how to run ${language || 'a block without a language'}`);
    }
  }

  /** Requests below each other, each a line with verb and path and a line with the body. */
  async function sendAll(text: string): Promise<string> {
    let last = '';
    for (const [, verb = '', path = '', body = ''] of text.matchAll(/^([A-Z]+) (\S+)\n(.*)$/gm)) {
      const reply = await rowan.perform(verb, path, { body: JSON.parse(body) });
      expect(reply.status, reply.text).toBeLessThan(300);
      last = reply.text;
    }
    return last;
  }

  /** Variables of a block are those of the blocks below it. @param mayFail an error may be shown */
  async function runShell(text: string, mayFail: boolean): Promise<string> {
    const script = `
      set -a; [ -f .variables ] && . ./.variables; trap 'export -p > .variables' EXIT
      set -e -o pipefail
      curl() { command curl -sS ${mayFail ? '' : '--fail-with-body'} "$@"; }
      ${text}`;
    const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` };
    const { stdout } = await run('bash', ['-c', script], { cwd: folder, env }).catch(
      ({ stdout: out, stderr }) => {
        throw new Error(`${stderr}\n${out}`);
      },
    );
    return stdout;
  }
});

describe('the documents', () => {
  test('name what they do not run, and nothing else', () => {
    const gone = NOT_RUN.filter(([document, start]) => {
      if (!DOCUMENTS.includes(document)) return true;
      return !blocksOf(readProjectFile(document)).some(({ text }) => text.startsWith(start));
    });
    expect(gone).toEqual([]);
  });

  test('say what the files are called that they show', () => {
    for (const document of DOCUMENTS) {
      const lines = readProjectFile(document).split('\n');
      for (const { file, line } of blocksOf(readProjectFile(document))) {
        if (file !== undefined) expect(lines.slice(0, line - 1).at(-2)).toContain(`\`${file}\``);
      }
    }
  });

  test('have TypeScript that the compiler takes', async () => {
    for (const document of DOCUMENTS) {
      const blocks = blocksOf(readProjectFile(document)).filter(
        ({ language }) => language === 'ts',
      );
      if (blocks.length === 0) continue;
      const file = `${basename(document, '.md').toLowerCase()}.ts`;
      const text = blocks.map((block) => block.text).join('\n');
      await writeModule(join(MODULES, 'types', file), text);
    }
    const config = {
      extends: '../../../tsconfig.json',
      // The package as those see it who have installed it.
      compilerOptions: { paths: {}, incremental: false, tsBuildInfoFile: null },
      include: ['*.ts'],
      exclude: [],
    };
    await writeModule(join(MODULES, 'types/tsconfig.json'), JSON.stringify(config));
    const compiler = join(projectRoot, 'node_modules/typescript/bin/tsc');
    const args = [compiler, '-p', join(MODULES, 'types')];
    const result = await run(process.execPath, args).catch((failed) => failed);
    expect(result.stdout).toBe('');
  }, 120_000);
});

/** `rowan`, as if it were installed. */
async function writeCommand(folder: string): Promise<void> {
  const command = join(folder, 'bin/rowan');
  await mkdir(dirname(command));
  const program = join(projectRoot, 'dist/cli/rowan.js');
  await writeFile(command, `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  await chmod(command, 0o755);
}

async function writeModule(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** `console.log(x); // shown` is checked. */
function withChecks(blocks: readonly Block[]): string {
  return blocks
    .map(({ text }) => text)
    .join('\n')
    .replace(
      /^(\s*console\.log\(.*\);) \/\/ (.+)$/gm,
      (_line, call, shown) =>
        `${call} (globalThis as never as { isShown(text: string): void }).isShown(${JSON.stringify(shown)});`,
    );
}
