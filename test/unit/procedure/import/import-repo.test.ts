import fs from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import git from 'isomorphic-git';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FileSystem } from '../../../../src/file/file-system.ts';
import { Repository } from '../../../../src/format/git/repository.ts';
import { Rowan } from '../../../../src/index.ts';

const lines = (count: number, word = 'line') =>
  Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join('');

let dir: string;
let rowan: Rowan;
const ids: string[] = [];

async function write(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(dir, path)), { recursive: true });
  await writeFile(join(dir, path), content);
  await git.add({ fs, dir, filepath: path });
}

async function remove(path: string): Promise<void> {
  await unlink(join(dir, path));
  await git.remove({ fs, dir, filepath: path });
}

async function commit(message: string, time: number, parent?: string[]): Promise<string> {
  const person = { name: 'Zoë Roe', email: 'zoe@example.org', timestamp: time, timezoneOffset: 60 };
  const id = await git.commit({
    ...{ fs, dir, message, author: person, committer: person },
    ...(parent === undefined ? {} : { parent }),
  });
  ids.push(id);
  return id;
}

/** A commit whose message is in an encoding of its own. */
async function encodedCommit(encoding: string, message: Buffer): Promise<string> {
  const { commit: head } = await git.readCommit({ fs, dir, oid: ids[0] as string });
  const text = `tree ${head.tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\nencoding ${encoding}\n\n`;
  const object = Buffer.concat([Buffer.from(text), message]);
  return git.writeObject({ fs, dir, type: 'commit', object, format: 'content' });
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowan-git-'));
  await git.init({ fs, dir, defaultBranch: 'main' });
  await write('a.txt', lines(10));
  await write('old.txt', lines(20, 'kept'));
  await write('gone.txt', lines(3, 'gone'));
  await commit('first', 1_000);
  await write('a.txt', `${lines(9)}changed\nadded\n`);
  await write('new.txt', `${lines(19, 'kept')}last\n`);
  await write('copy.txt', lines(10));
  await write('picture.bin', new Uint8Array([1, 0, 2]));
  await write('odd "name".txt', 'x');
  await remove('old.txt');
  await remove('gone.txt');
  await commit('second\n\nwith a body', 2_000);
  await git.branch({ fs, dir, ref: 'side', object: ids[0] as string });
  await commit('merge', 3_000, [ids[1] as string, ids[0] as string]);
  await git.tag({ fs, dir, ref: 'v1', object: ids[0] as string });
  await git.annotatedTag({
    ...{ fs, dir, ref: 'v2', object: ids[1] as string, message: 'two' },
    tagger: { name: 'T', email: 't@example.org' },
  });
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
});
afterAll(async () => {
  await rowan.close();
  await rm(dir, { recursive: true });
});

async function importing(params: object): Promise<{ status: number; error?: string }> {
  const reply = await rowan.put('/v1/procedures/p', {
    type: 'import.repo',
    params: { repository: `file://${dir}`, outputDataset: 'o', ...params, runOnCreation: true },
  });
  return { ...(reply.json as object), status: reply.status };
}

const short = (index: number) => (ids[index] as string).slice(0, 8);
const rows = (sql: string) => rowan.query(sql, { format: 'aos' });

test('a row for each commit that the head comes from', async () => {
  expect((await importing({})).status).toBe(201);
  expect(
    await rows('SELECT message, parentCount FROM o ORDER BY latest_timestamp(author)'),
  ).toMatchObject([
    { _rowName: short(0), message: 'first\n', parentCount: 0 },
    { _rowName: short(1), message: 'second\n\nwith a body\n', parentCount: 1 },
    { _rowName: short(2), message: 'merge\n', parentCount: 2 },
  ]);
  expect(await rows(`SELECT author, authorEmail, committer FROM o WHERE parentCount = 0`)).toEqual([
    {
      _rowName: short(0),
      author: 'Zoë Roe',
      authorEmail: 'zoe@example.org',
      committer: 'Zoë Roe',
    },
  ]);
  expect(await rowan.get('/v1/datasets/o/columns/parent/values').then(({ json }) => json)).toEqual(
    [short(0), short(1)].sort(),
  );
  expect(await rowan.get('/v1/datasets/o/timestampRange').then(({ json }) => json)).toEqual([
    '1970-01-01T00:16:40Z',
    '1970-01-01T00:50:00Z',
  ]);
});

test('counts of lines are those of git diff --numstat', async () => {
  await importing({ importStats: true });
  // a.txt 2 and 1; new.txt, renamed, 1 and 1; copy.txt 10; the odd name 1; gone.txt -3
  expect(
    await rows('SELECT insertions, deletions, filesChanged FROM o WHERE parentCount = 1'),
  ).toEqual([{ _rowName: short(1), insertions: 14, deletions: 5, filesChanged: 6 }]);
});

test('changed files, renamed and copied ones under the path that they had', async () => {
  await importing({ importTree: true });
  const reply = await rowan.query(
    `SELECT COLUMN EXPR (WHERE columnName() LIKE '"file.%') FROM o WHERE parentCount = 1`,
    { format: 'full' },
  );
  const [{ columns }] = reply as unknown as [{ columns: [string, unknown][] }];
  expect(columns.map(([name, value]) => [name, value]).sort()).toEqual([
    ['"file.a.txt.deletions"', 1],
    ['"file.a.txt.insertions"', 10],
    ['"file.a.txt.insertions"', 2],
    ['"file.a.txt.op"', 'copied'],
    ['"file.a.txt.op"', 'modified'],
    ['"file.gone.txt.deletions"', 3],
    ['"file.gone.txt.op"', 'deleted'],
    ['"file.odd ""name"".txt.insertions"', 1],
    ['"file.odd ""name"".txt.op"', 'added'],
    ['"file.old.txt.deletions"', 1],
    ['"file.old.txt.insertions"', 1],
    ['"file.old.txt.op"', 'renamed'],
    ['"file.picture.bin.op"', 'added'],
  ]);
});

test.each([
  [['side'], [0]],
  [['v1'], [0]],
  [['tags/*'], [0, 1]],
  [['heads/*'], [0, 1, 2]],
  [['v1..HEAD'], [1, 2]],
  [['v1..v2'], [1]],
  [['HEAD^2'], [0]],
  [['HEAD~1'], [0, 1]],
  [['v2^{}'], [0, 1]],
])('revisions %j', async (revisions, expected) => {
  expect(await importing({ revisions })).toMatchObject({ status: 201 });
  const names = (await rows('SELECT 1 FROM o')) as { _rowName: string }[];
  expect(names.map(({ _rowName }) => _rowName).sort()).toEqual(expected.map(short).sort());
});

test('abbreviated ids', async () => {
  expect(await importing({ revisions: [short(0)] })).toMatchObject({ status: 201 });
  expect(await rows('SELECT parentCount FROM o')).toEqual([{ _rowName: short(0), parentCount: 0 }]);
});

test.each(['nobody', 'HEAD~99', 'HEAD^7', 'a..nobody', 'HEAD^{tree}', '../../etc/passwd'])(
  'refuses revision %s',
  async (revision) => {
    const reply = await importing({ revisions: [revision] });
    expect(reply.status).toBe(400);
    expect(reply.error).toContain('Error adding revision');
  },
);

test('messages in other encodings', async () => {
  const latin = await encodedCommit('ISO-8859-1', Buffer.from('caf\xe9\n', 'latin1'));
  const other = await encodedCommit('KOI8-R', Buffer.from([0xc1, 0x0a]));
  await importing({ revisions: [latin] });
  expect(await rowan.query('SELECT message FROM o', { format: 'atom' })).toBe('café\n');
  await importing({ revisions: [other] });
  expect(await rowan.query('SELECT message FROM o', { format: 'atom' })).toBe(
    "<<<couldn't decode message in KOI8-R character set>>>",
  );
  const refused = await importing({ revisions: [other], ignoreUnknownEncodings: false });
  expect(refused).toMatchObject({ status: 400 });
  expect(refused.error).toContain('KOI8-R');
});

test('refuses what is no repository', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'rowan-git-'));
  for (const repository of [`file://${empty}`, `file://${empty}/none`, `file://${dir}/a.txt`]) {
    const reply = await importing({ repository });
    expect(reply.status).toBe(400);
    expect(reply.error).toContain('Error opening git repository');
  }
  await rm(empty, { recursive: true });
});

test('a damaged object is a fault with its id', async () => {
  const broken = await mkdtemp(join(tmpdir(), 'rowan-git-'));
  await fs.promises.cp(dir, broken, { recursive: true });
  const [id] = ids as [string];
  const path = join(broken, '.git/objects', id.slice(0, 2), id.slice(2));
  await fs.promises.chmod(path, 0o600);
  await writeFile(path, (await fs.promises.readFile(path)).subarray(0, 20));
  const reply = await importing({ repository: `file://${broken}` });
  expect(reply.status).toBe(400);
  expect(reply.error).toContain(id);
  await rm(broken, { recursive: true });
});

test('links do not lead out of the folders that may be read', async () => {
  const root = await mkdtemp(join(tmpdir(), 'rowan-git-'));
  await fs.promises.cp(join(dir, '.git'), join(root, 'bare'), { recursive: true });
  await rm(join(root, 'bare/objects'), { recursive: true });
  await symlink(join(dir, '.git/objects'), join(root, 'bare/objects'));
  const files = new FileSystem({ fileRoots: [root] });
  const repository = await Repository.open(await files.localFolder(`file://${root}/bare`), 'x');
  await expect(repository.revisions(['HEAD'])).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await rm(root, { recursive: true });
});
