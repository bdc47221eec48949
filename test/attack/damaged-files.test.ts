// Files that are cut, flipped or lie are refused with a reason: nothing is left behind, nothing hangs.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';
import { projectRoot } from '../support/project.ts';

const FILES = join(projectRoot, 'test/reference/peer-files');
const TYPES: Readonly<Record<string, string>> = {
  parquet: 'import.parquet',
  arrow: 'import.arrow',
  arrows: 'import.arrow',
  feather: 'import.arrow',
  zip: 'import.text',
  xlsx: 'import.xlsx',
  csv: 'import.text',
};

/** A member p.csv. */
const ZIP =
  'UEsDBBQAAAAIAAAAIVAsa8uqEQAAAPAAAAAFAAAAcC5jc3ZL1EniMtQx4jLWMeFKHAFsAFBLAQIUAxQAAAAIAAAAIVAsa8uqEQAAAPAAAAAFAAAAAAAAAAAAAACAAQAAAABwLmNzdlBLBQYAAAAAAQABADMAAAA0AAAAAAA=';

let rowan: Rowan;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rowan-damaged-'));
  rowan = await Rowan.open({ dataDir: null, workers: 2 });
});
afterAll(async () => {
  await rowan.close();
  rmSync(directory, { recursive: true, force: true });
});

afterEach(async () => {
  await rowan.delete('/v1/datasets/damaged');
});

async function importBytes(file: string, bytes: Uint8Array, params = {}) {
  const path = join(directory, file);
  writeFileSync(path, bytes);
  const reply = await rowan.put('/v1/procedures/import', {
    type: TYPES[file.split('.')[1] as string],
    params: {
      dataFileUrl: `file://${path}`,
      outputDataset: 'damaged',
      runOnCreation: true,
      ...params,
    },
  });
  return { status: reply.status, text: reply.text };
}

async function nothingIsLeft(): Promise<void> {
  expect((await rowan.get('/v1/datasets')).json).toEqual([]);
}

describe.each([
  ['types-v2.parquet', 1],
  ['nested-v1.parquet', 1],
  ['long-delta.parquet', 1],
  ['pandas-zstd.feather', 2],
  ['nested.arrows', 4],
  ['polars-lz4.arrow', 4],
  ['openpyxl.xlsx', 1],
  ['plain.csv.gz', 1],
  ['plain.csv.bz2', 4],
  ['plain.csv.xz', 1],
  ['plain.csv.zst', 1],
])('%s', (file, step) => {
  const whole = readFileSync(join(FILES, file));

  test('cut anywhere is refused', async () => {
    // A compressed text without a byte is empty, and a stream may end after its schema.
    for (let share = 1; share < 100; share += step) {
      const cut = whole.subarray(0, Math.floor((whole.length * share) / 100));
      const { status, text } = await importBytes(file, cut);
      if (status === 201) {
        expect([share, file]).toEqual([share, 'nested.arrows']);
        await rowan.delete('/v1/datasets/damaged');
      } else expect([share, status, text]).toEqual([share, 400, expect.stringContaining(file)]);
    }
    await nothingIsLeft();
  });

  test('with flipped bits is read or refused', async () => {
    for (let i = 0; i < 24; i++) {
      const bytes = Buffer.from(whole);
      const place = Math.floor((whole.length * (i + 0.5)) / 24);
      bytes[place] = (bytes[place] as number) ^ (1 << (i % 8));
      const { status, text } = await importBytes(file, bytes);
      expect([place, [201, 400].includes(status), text.slice(0, 200)]).toEqual([
        place,
        true,
        text.slice(0, 200),
      ]);
      if (status === 201) await rowan.delete('/v1/datasets/damaged');
    }
    await nothingIsLeft();
  });
});

test('bits that once made a reader loop or fail are refused', async () => {
  const flips: readonly [string, number][] = [
    // a page header whose number of nulls is no integer
    ['types-v2.parquet', 703],
    // a schema whose column has no name
    ['nested-v1.parquet', 3703],
    // a message of another kind where the footer says a batch is
    ['types-none.arrow', 2623],
    // a vector longer than its message
    ['types-none.arrow', 7259],
  ];
  for (const [file, place] of flips) {
    const bytes = readFileSync(join(FILES, file));
    bytes[place] = (bytes[place] as number) ^ (1 << ((place * 7) % 8));
    const { status, text } = await importBytes(file, bytes);
    expect([file, place, status, text.length < 2000]).toEqual([file, place, 400, true]);
  }
  await nothingIsLeft();
});

test('a footer that promises more rows than there are is refused', async () => {
  const { parquetWriteBuffer } = await import('hyparquet-writer');
  const bytes = new Uint8Array(
    parquetWriteBuffer({ columnData: [{ name: 'n', data: [1, 2, 3], type: 'INT32' }] }),
  );
  const { parquetMetadata } = await import('hyparquet');
  const metadata = parquetMetadata(bytes.buffer);
  const { ByteWriter } = await import('hyparquet-writer');
  const { writeMetadata } = await import('hyparquet-writer/src/metadata.js');
  const start = bytes.length - 8 - Buffer.from(bytes).readUInt32LE(bytes.length - 8);
  for (const [rows, values] of [
    [2_000_000_000n, 3n],
    [2_000_000_000n, 2_000_000_000n],
    [3n, 2_000_000_000n],
    [0n, 3n],
  ] as const) {
    const [group] = metadata.row_groups;
    if (group === undefined) throw new Error('the file has a row group');
    group.num_rows = rows;
    for (const { meta_data: meta } of group.columns)
      if (meta !== undefined) meta.num_values = values;
    const footer = new ByteWriter();
    writeMetadata(footer, metadata);
    const lying = Buffer.concat([bytes.subarray(0, start), Buffer.from(footer.getBytes())]);
    const { status, text } = await importBytes('lie.parquet', lying);
    expect([rows, values, status, text]).toEqual([
      rows,
      values,
      400,
      expect.stringContaining('lie.parquet'),
    ]);
  }
  await nothingIsLeft();
});

test('the last line of a compressed text is told as it is', async () => {
  const { status, text } = await importBytes('short.csv.gz', gzipSync('a,b,c\n1,2,3\n4'));
  expect(status).toBe(400);
  const { details } = JSON.parse(text) as { details: { runError: { details: object } } };
  expect(details.runError.details).toMatchObject({ lineNumber: 3, columnNumber: 2, line: '4' });
});

test('a line that is longer than allowed ends the import early', async () => {
  const long = gzipSync(Buffer.alloc(64 << 20, 0x20));
  const reply = await importBytes('bomb.csv.gz', long, { maxLineBytes: 1 << 20 });
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('maxLineBytes')]);
  await nothingIsLeft();
});

test('a member of a zip file that is not what its directory says is refused', async () => {
  const whole = Buffer.from(ZIP, 'base64');
  const directoryStart = whole.readUInt32LE(whole.length - 6);
  // The signature of the member, its content, and the sizes that the directory says it has.
  for (const place of [0, 38, directoryStart + 24]) {
    const bytes = Buffer.from(whole);
    bytes[place] = (bytes[place] as number) ^ 4;
    const { status, text } = await importBytes('p.zip', bytes);
    expect([place, status, text]).toEqual([place, 400, expect.stringContaining('p.zip')]);
  }
  await nothingIsLeft();
});

/** A zip file of members that are not compressed. */
function zipOf(members: Readonly<Record<string, string>>): Buffer {
  const parts: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(members)) {
    const content = Buffer.from(text);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x21, 8); // 1980-01-01
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(content.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const member = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), content]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    entries.push(Buffer.from('PK\x01\x02\x14\0'), common, rest, Buffer.from(name));
    parts.push(member);
    offset += member.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, directory, end]);
}

function workbook(rows: string, strings = '', declaration = ''): Buffer {
  return zipOf({
    'xl/workbook.xml': `${declaration}<workbook xmlns:r="r"><sheets><sheet name="S" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/sharedStrings.xml': `<sst>${strings}</sst>`,
    'xl/worksheets/sheet1.xml': `${declaration}<worksheet><sheetData>${rows}</sheetData></worksheet>`,
  });
}

test.each([
  ['a row beyond the last', '<row r="99999999999"><c r="A1"><v>1</v></c></row>', ''],
  ['a row before the first', '<row r="-5"><c r="A1"><v>1</v></c></row>', ''],
  ['a column beyond the last', '<row r="1"><c r="ZZZZZZ1"><v>1</v></c></row>', ''],
  [
    'a text that is none',
    '<row r="1"><c r="A1"/></row>',
    `<si><t>${'x'.repeat(2 ** 24 + 1)}</t></si>`,
  ],
])('a workbook with %s is refused', async (_, rows, strings) => {
  const { status, text } = await importBytes('odd.xlsx', workbook(rows, strings));
  expect([status, text]).toEqual([400, expect.stringContaining('is no workbook')]);
  await nothingIsLeft();
});

test('entities of workbooks are neither read from files nor multiplied', async () => {
  const secret = join(directory, 'secret');
  writeFileSync(secret, 'a secret');
  const declaration = `<!DOCTYPE x [<!ENTITY file SYSTEM "file://${secret}"><!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>`;
  const rows = '<row r="1"><c r="A1" t="inlineStr"><is><t>&file;|&b;</t></is></c></row>';
  const { status, text } = await importBytes('entity.xlsx', workbook(rows, '', declaration));
  expect(status, text).toBe(201);
  const cell = await rowan.query('SELECT A FROM damaged', { format: 'atom' });
  expect(cell).toBe('&file;|&b;');
});

test('an SQLite file with damaged pages or values is refused', async () => {
  const path = join(directory, 'rows.sqlite');
  const config = { type: 'sqliteSparse', params: { dataFileUrl: `file://${path}` } };
  await rowan.put('/v1/datasets/rows', config);
  const rows = Array.from({ length: 40 }, (_, index) => [`r${index}`, [['x', `v${index}`, index]]]);
  await rowan.post('/v1/datasets/rows/multirows', rows);
  await rowan.delete('/v1/datasets/rows');
  const whole = readFileSync(path);
  const statuses = new Set<number>();
  for (let i = 0; i < 30; i++) {
    const bytes = Buffer.from(whole);
    const place = Math.floor((whole.length * (i + 0.5)) / 30);
    bytes.fill(0xaa, place, place + 40);
    writeFileSync(path, bytes);
    const made = await rowan.put('/v1/datasets/rows', config);
    const read = await rowan.get('/v1/query?q=SELECT%20count(*)%20FROM%20rows');
    for (const { status } of [made, read]) statuses.add(status);
    await rowan.delete('/v1/datasets/rows');
  }
  expect([...statuses].filter((status) => ![200, 201, 400, 404].includes(status))).toEqual([]);
  await nothingIsLeft();
});

test('a repository with damaged objects is refused', async () => {
  const repository = join(directory, 'repository');
  mkdirSync(repository);
  const git = (...words: string[]) =>
    execFileSync('git', ['-C', repository, '-c', 'user.name=x', '-c', 'user.email=x@x', ...words]);
  git('init', '-q');
  for (const text of ['one', 'two', 'three']) {
    writeFileSync(join(repository, 'file'), text);
    git('add', '.');
    git('commit', '-qm', text);
  }
  git('gc', '-q');
  const packs = join(repository, '.git/objects/pack');
  const pack = join(packs, readdirSync(packs).find((name) => name.endsWith('.pack')) as string);
  const whole = readFileSync(pack);
  execFileSync('chmod', ['-R', 'u+w', packs]);
  for (let i = 0; i < 20; i++) {
    const bytes = Buffer.from(whole);
    bytes.fill(0xff, Math.floor((whole.length * i) / 20), Math.floor((whole.length * i) / 20) + 3);
    writeFileSync(pack, bytes);
    const reply = await rowan.put('/v1/procedures/import', {
      type: 'import.repo',
      params: {
        repository: `file://${repository}`,
        outputDataset: 'damaged',
        importTree: true,
        runOnCreation: true,
      },
    });
    expect([i, [201, 400].includes(reply.status), reply.text.slice(0, 300)]).toEqual([
      i,
      true,
      reply.text.slice(0, 300),
    ]);
    if (reply.status === 201) await rowan.delete('/v1/datasets/damaged');
  }
  await nothingIsLeft();
});

test('names in repositories that no file system has are names like others', async () => {
  const repository = join(directory, 'odd.git');
  mkdirSync(repository);
  const git = (input: string | Buffer, ...words: string[]) =>
    execFileSync('git', ['-C', repository, '-c', 'user.name=x', '-c', 'user.email=x@x', ...words], {
      input,
    })
      .toString()
      .trim();
  git('', 'init', '-q', '--bare');
  const names = [Buffer.from('..'), Buffer.from('a/b'), Buffer.from('__proto__')];
  names.push(Buffer.from([0x66, 0xff, 0xfe]), Buffer.from('x'.repeat(20_000)));
  const entries = names.map((name, index) => {
    const id = git(`content ${index}\n`.repeat(index + 1), 'hash-object', '-w', '--stdin');
    return Buffer.concat([Buffer.from('100644 '), name, Buffer.from([0]), Buffer.from(id, 'hex')]);
  });
  const treeOf = (content: Buffer) =>
    git(content, 'hash-object', '-w', '-t', 'tree', '--literally', '--stdin');
  const first = git('first', 'commit-tree', treeOf(Buffer.alloc(0)));
  const second = git('second', 'commit-tree', treeOf(Buffer.concat(entries)), '-p', first);
  git('', 'update-ref', 'HEAD', second);
  const reply = await rowan.put('/v1/procedures/import', {
    type: 'import.repo',
    params: {
      repository: `file://${repository}`,
      outputDataset: 'damaged',
      importTree: true,
      runOnCreation: true,
    },
  });
  expect(reply.status, reply.text).toBe(201);
  const columns = (await rowan.get('/v1/datasets/damaged/columns')).json as string[];
  for (const name of ['..', 'a/b', '__proto__', 'f\ufffd\ufffd', 'x'.repeat(20_000)]) {
    expect(columns).toContain(`"file.${name}.op"`);
  }
});
