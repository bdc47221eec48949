import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';

let rowan: Rowan;
beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  for (const [id, type] of [
    ['links', 'html.extractLinks'],
    ['page', 'html.parse'],
  ]) {
    expect((await rowan.put(`/v1/functions/${id}`, { type })).status).toBe(201);
  }
});
afterAll(() => rowan.close());

const value = (sql: string) => rowan.query(`SELECT ${sql} AS x`, { format: 'atom' });

test('links of a page, all or those of a selector', async () => {
  const page = `'<a href="one">1</a><p class="x"><a href="two">2</a><a>3</a>'`;
  expect(await value(`print_json(links({text: ${page}})[links])`)).toBe('["one","two",""]');
  expect(await value(`print_json(links({text: ${page}, selector: '.x a'})[links])`)).toBe(
    '["two",""]',
  );
  expect(await value('links({text: NULL})[links] IS NULL')).toBe(1);
});

test('a page as a tree', async () => {
  const text = await value(
    `print_json(page({text: '<p id=a>Hi <b>there</b> &amp; on<br></p>'})[output])`,
  );
  expect(JSON.parse(text as string)).toMatchObject({
    tag: '#document',
    children: {
      0: {
        tag: 'p',
        attributes: { id: 'a' },
        text: 'Hi  & on',
        children: { 0: { tag: 'b', text: 'there' }, 1: { tag: 'br', text: '' } },
      },
    },
  });
});

test('elements nested without end do not break the parser', async () => {
  const reply = await rowan.post('/v1/functions/page/application', {
    input: { text: '<i>'.repeat(20_000) },
  });
  expect(reply.status).toBe(200);
});

async function create(type: string, params: object): Promise<{ status: number; text: string }> {
  const { status, text } = await rowan.put('/v1/functions/image', { type, params });
  return { status, text };
}

test('pixels of an image; coordinates beyond it are those of its border', async () => {
  await create('image.readpixels', { expression: '[[1, 2, 3], [4, 5, 6]]' });
  expect(await value('image({x: 2, y: 1})[value]')).toBe(6);
  expect(await value('image({x: -5, y: 99})[value]')).toBe(4);
});

test('voxels: x outermost, then y, z and channels; zeros outside', async () => {
  // [z][y][x][channel] of 2 x 1 x 2 voxels
  const expression = '[[[[1, 2, 3], [4, 5, 6]]], [[[7, 8, 9], [10, 11, 12]]]]';
  await create('image.proximatevoxels', { expression, range: 1 });
  const text = await value('print_json(image({x: 0, y: 0, z: 0})[value])');
  const at = (i: number, j: number, k: number) => ((i + 1) * 9 + (j + 1) * 3 + k + 1) * 3;
  const expected = new Array<number>(81).fill(0);
  expected.splice(at(0, 0, 0), 3, 1, 2, 3);
  expected.splice(at(1, 0, 0), 3, 4, 5, 6);
  expected.splice(at(0, 0, 1), 3, 7, 8, 9);
  expected.splice(at(1, 0, 1), 3, 10, 11, 12);
  expect(JSON.parse(text as string)).toEqual(expected);
});

test.each([
  ['image.readpixels', { expression: '[1, 2]' }, 'an embedding of 1 dimensions'],
  ['image.readpixels', { expression: '1, 2' }, 'must be one expression'],
  ['image.readpixels', {}, 'expression'],
  ['image.proximatevoxels', { expression: '[[[[1]]]]', range: 1 }, '1 channels'],
  ['image.proximatevoxels', { expression: '[[[[1, 2, 3]]]]', range: -1 }, 'range'],
])('refuses %s %j', async (type, params, message) => {
  const reply = await create(type, params);
  expect(reply.status).toBe(400);
  expect(reply.text).toContain(message);
});
