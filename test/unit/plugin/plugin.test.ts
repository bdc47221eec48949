// Plugins and scripts in a whole service.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';

let rowan: Rowan;
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowan-plugin-'));
  await mkdir(join(dir, 'autoload', 'nested', 'hello'), { recursive: true });
  await mkdir(join(dir, 'autoload', 'python'));
  await mkdir(join(dir, 'autoload', 'broken'));
  await writeFile(
    join(dir, 'autoload', 'nested', 'hello', 'mldb_plugin.json'),
    '{"config": {"id": "hello", "type": "javascript"}}',
  );
  await writeFile(
    join(dir, 'autoload', 'nested', 'hello', 'main.js'),
    'plugin.setRequestHandler(() => "hello")',
  );
  await writeFile(
    join(dir, 'autoload', 'python', 'mldb_plugin.json'),
    '{"config": {"id": "snake", "type": "python"}}',
  );
  await writeFile(join(dir, 'autoload', 'broken', 'rowan_plugin.json'), '{"config": ');
  rowan = await Rowan.open({
    dataDir: null,
    pluginDirectories: [join(dir, 'autoload')],
    scripts: { timeoutMs: 1500, memoryBytes: 64 << 20 },
  });
});

afterAll(async () => {
  await rowan?.close();
  await rm(dir, { recursive: true, force: true });
});

async function put(id: string, main: string, args?: unknown) {
  const params = { source: { main }, ...(args === undefined ? {} : { args }) };
  return rowan.put(`/v1/plugins/${id}`, { type: 'javascript', params });
}

async function script(source: string, args?: unknown): Promise<unknown> {
  const body = { source, ...(args === undefined ? {} : { args }) };
  const reply = await rowan.post('/v1/types/plugins/javascript/routes/run', body);
  if (reply.status !== 200) throw new Error(reply.text);
  return (reply.json as { result?: unknown }).result;
}

describe('a plugin', () => {
  test('answers requests with what its handler returns', async () => {
    await put('answers', 'let n = 0; plugin.setRequestHandler((path) => ({path, n: ++n}))');
    await rowan.get('/v1/plugins/answers/routes/a');
    expect((await rowan.get('/v1/plugins/answers/routes')).json).toEqual({ path: '', n: 2 });
    expect((await rowan.post('/v1/plugins/answers/routes/a%2Fb')).json).toMatchObject({
      path: '/a%2Fb',
    });
  });

  test('awaits promises', async () => {
    await put('async', 'plugin.setRequestHandler(async () => { await null; return [1] })');
    expect((await rowan.get('/v1/plugins/async/routes/x')).json).toEqual([1]);
  });

  test('controls its replies', async () => {
    await put(
      'controls',
      `plugin.setRequestHandler((path) => path === '/bytes'
        ? plugin.response(Uint8Array.of(0, 255, 65), {contentType: 'image/png'})
        : plugin.response('<p>', {status: 202, contentType: 'text/html', headers: {'X-A': 1}}))`,
    );
    const page = await rowan.get('/v1/plugins/controls/routes/page');
    expect([page.status, page.contentType, page.headers['x-a'], page.text]).toEqual([
      202,
      'text/html',
      '1',
      '<p>',
    ]);
    const image = await rowan.get('/v1/plugins/controls/routes/bytes');
    expect([...image.bytes]).toEqual([0, 255, 65]);
  });

  test('cannot break the framing of its replies', async () => {
    await put(
      'framing',
      "plugin.setRequestHandler((path, verb, resource, params) => plugin.response('x', JSON.parse(params[0][1])))",
    );
    const ask = (options: object) =>
      rowan.get('/v1/plugins/framing/routes', { options: JSON.stringify(options) });
    for (const [options, says] of [
      [{ headers: { 'X-A': 'a\r\nX-B: c' } }, 'invalid header X-A'],
      [{ headers: { 'X A': 'a' } }, 'invalid header X A'],
      [{ headers: { 'Content-Length': '100' } }, 'may not set the header Content-Length'],
      [{ headers: { 'transfer-encoding': 'chunked' } }, 'may not set the header'],
      [{ contentType: 'text/plain\nx: y' }, 'invalid header Content-Type'],
      [{ status: 99 }, 'the status 99'],
    ] as const) {
      const reply = await ask(options);
      expect([reply.status, reply.text]).toEqual([400, expect.stringContaining(says)]);
    }
    const typed = await ask({ headers: { 'content-type': 'text/css' } });
    expect([typed.status, typed.contentType]).toEqual([200, 'text/css']);
  });

  test('whose program loops for ever is ended', async () => {
    const reply = await put('endless', 'for (;;);');
    expect([reply.status, reply.text]).toEqual([504, expect.stringContaining('1500 ms')]);
    expect((await rowan.get('/v1/plugins/endless')).json).toMatchObject({ state: 'error' });
  });

  test('whose program waits for the service has the time that takes', async () => {
    const procedure = { type: 'mock', params: { durationMs: 2000 } };
    const main = `mldb.createProcedure(${JSON.stringify(procedure)}).run()`;
    expect((await put('patient', main)).status).toBe(201);
  });

  test('that calls itself without end is told so', async () => {
    // Hundreds of sandboxes take their time on a busy machine.
    const patient = await Rowan.open({ dataDir: null });
    const main = "plugin.setRequestHandler(() => mldb.get('/v1/plugins/recursive/routes').json)";
    const params = { source: { main } };
    await patient.put('/v1/plugins/recursive', { type: 'javascript', params });
    const reply = await patient.get('/v1/plugins/recursive/routes');
    await patient.close();
    expect(reply.text).toContain('too deeply');
  });

  test('that is ended by one request serves those that waited', async () => {
    await put(
      'stuck',
      "plugin.setRequestHandler((path) => path === '/stuck' ? /^(a+)+$/.test('a'.repeat(60) + 'b') : path)",
    );
    const [stuck, ...others] = await Promise.all(
      ['stuck', 'a', 'b'].map((path) => rowan.get(`/v1/plugins/stuck/routes/${path}`)),
    );
    expect(stuck?.status).toBe(504);
    expect(others.map(({ status, json }) => [status, json])).toEqual([
      [200, '/a'],
      [200, '/b'],
    ]);
  });

  test('that starts anew does not begin calls that nobody waits for', async () => {
    await put(
      'left',
      `const begun = [];
       for (const start = Date.now(); Date.now() < start + 300;);
       plugin.setRequestHandler((path) => {
         begun.push(path);
         if (path === '/stuck') 'a'.repeat(1e7).indexOf('a'.repeat(5e6) + 'b');
         return begun;
       })`,
    );
    const leaving = new AbortController();
    const ask = (path: string, options = {}) =>
      rowan.perform('GET', `/v1/plugins/left/routes/${path}`, options);
    const stuck = ask('stuck');
    const left = expect(ask('left', { signal: leaving.signal })).rejects.toThrow('cancelled');
    const patient = ask('patient');
    expect((await stuck).status).toBe(504);
    leaving.abort();
    await left;
    expect((await patient).json).toEqual(['/patient']);
  });

  test('that throws answers with the exception', async () => {
    await put('throws', 'plugin.setRequestHandler(() => {\n throw new TypeError("bad") })');
    const reply = await rowan.get('/v1/plugins/throws/routes/x');
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({
      error: 'TypeError: bad',
      lineNumber: 2,
      context: ['JS Plugin request callback'],
    });
  });

  test('is told the role of the caller, not its key', async () => {
    await put('roles', 'plugin.setRequestHandler((...args) => args[7])');
    const reply = await rowan.as('reader').perform('GET', '/v1/plugins/roles/routes/x', {
      headers: { Authorization: 'Bearer secret', 'X-Other': 'y' },
    });
    expect(reply.json).toEqual({ 'x-other': 'y', 'x-rowan-role': 'reader' });
  });

  test('that loops for ever is ended and starts anew', async () => {
    await put(
      'loops',
      `let calls = 0;
       plugin.setRequestHandler((path) => {
         calls++;
         if (path === '/soft') while (true) {}
         if (path === '/hard') return 'a'.repeat(1e7).indexOf('a'.repeat(5e6) + 'b');
         return calls;
       })`,
    );
    const soft = await rowan.get('/v1/plugins/loops/routes/soft');
    expect([soft.status, (soft.json as { code: string }).code]).toEqual([504, 'TIMEOUT']);
    expect((await rowan.get('/v1/plugins/loops/routes/x')).json).toBe(2);
    expect((await rowan.get('/v1/plugins/loops/routes/hard')).status).toBe(504);
    expect((await rowan.get('/v1/plugins/loops/routes/x')).json).toBe(1);
  });

  test('that takes all memory leaves the service alone', async () => {
    await put(
      'hungry',
      'plugin.setRequestHandler((p) => { if (p === "/ok") return 1; const a = []; while (true) a.push(new Array(1000).fill(1)) })',
    );
    const reply = await rowan.get('/v1/plugins/hungry/routes/x');
    expect([reply.status, (reply.json as { code: string }).code]).toEqual([400, 'OUT_OF_MEMORY']);
    expect((await rowan.get('/v1/plugins/hungry/routes/ok')).json).toBe(1);
  });

  test('calls itself through another plugin and through a query', async () => {
    await put(
      'ping',
      `plugin.setRequestHandler((path) => {
        if (path === '/start') return mldb.get('/v1/plugins/pong/routes/back').json;
        if (path === '/query') {
          return mldb.query("SELECT jseval('return mldb.get(\\"/v1/plugins/ping/routes/end\\").json', '') AS x");
        }
        return 'end of ' + path;
      })`,
    );
    await put('pong', 'plugin.setRequestHandler(() => mldb.get("/v1/plugins/ping/routes/x").json)');
    expect((await rowan.get('/v1/plugins/ping/routes/start')).json).toBe('end of /x');
    expect((await rowan.get('/v1/plugins/ping/routes/query')).json).toMatchObject([
      { columns: [['x', 'end of /end', '-Inf']] },
    ]);
  });

  test('exists after its status handler has failed its creation', async () => {
    const reply = await put('moody', 'plugin.setStatusHandler(() => { throw "bad" })');
    expect([reply.status, (reply.json as { error: string }).error]).toEqual([
      400,
      'Exception in JS status function',
    ]);
    expect((await rowan.get('/v1/plugins')).json).toContain('moody');
  });

  test('that does not compile is refused with the place', async () => {
    const reply = await put('wrong', 'var a;\nthis is wrong');
    expect(reply.json).toMatchObject({
      error: 'Exception compiling plugin script',
      details: { lineNumber: 2, context: ['Compiling plugin script'] },
    });
  });
});

describe('folders of a plugin', () => {
  beforeAll(async () => {
    const root = join(dir, 'served');
    await mkdir(join(root, 'static', 'sub'), { recursive: true });
    await mkdir(join(root, 'doc'));
    await writeFile(join(root, 'static', 'a.css'), 'p {}');
    await writeFile(join(root, 'static', 'sub', 'index.html'), '<h1>');
    await writeFile(join(root, 'doc', 'page.md'), '# Title\n\n[other](other.md)');
    await writeFile(join(dir, 'secret.txt'), 'secret');
    await symlink(join(dir, 'secret.txt'), join(root, 'static', 'link.txt'));
    await writeFile(
      join(root, 'main.js'),
      `plugin.serveStaticFolder('/files', 'static');
       plugin.serveDocumentationFolder('/doc', 'doc');
       let missing;
       try { plugin.serveStaticFolder('/none', 'none') } catch (e) { missing = e.message }
       plugin.setRequestHandler((path) => [path, missing, plugin.getPluginDir()]);`,
    );
    const address = pathToFileURL(root).href;
    const reply = await rowan.put('/v1/plugins/files', { type: 'javascript', params: { address } });
    expect(reply.status).toBe(201);
  });

  const get = (path: string, headers = {}) => rowan.get(`/v1/plugins/files${path}`, {}, headers);

  test('serve files with their type', async () => {
    const reply = await get('/routes/files/a.css');
    expect([reply.status, reply.contentType, reply.text]).toEqual([
      200,
      'text/css; charset=utf-8',
      'p {}',
    ]);
    const again = await get('/routes/files/a.css', {
      'If-None-Match': reply.headers.etag,
    });
    expect([again.status, again.text]).toEqual([304, '']);
    const range = await get('/routes/files/a.css', { Range: 'bytes=2-3' });
    expect([range.status, range.text]).toEqual([206, '{}']);
  });

  test('redirect to directories, and refuse what is not there', async () => {
    expect((await get('/routes/files/sub')).headers.location).toBe(
      '/v1/plugins/files/routes/files/sub/',
    );
    expect((await get('/routes/files/sub/')).text).toBe('<h1>');
    expect((await get('/routes/files/')).status).toBe(403);
    expect((await get('/routes/files/no.txt')).text).toBe("File 'no.txt' doesn't exist");
  });

  test('cannot be left', async () => {
    expect((await get('/routes/files/../main.js')).status).toBe(400);
    expect((await get('/routes/files/%2e%2e/main.js')).status).toBe(400);
    expect((await get('/routes/files/link.txt')).status).toBe(404);
  });

  test('of documentation are pages', async () => {
    for (const path of ['/routes/doc/page.md', '/doc/page.md.html']) {
      const reply = await get(path);
      expect(reply.contentType).toBe('text/html; charset=utf-8');
      expect(reply.text).toContain('<a href="other.md.html">other</a>');
    }
  });

  test('lie below the plugin', async () => {
    const address = pathToFileURL(join(dir, 'outside.js')).href;
    for (const folder of ['..', '/etc', 'a/../../b']) {
      await writeFile(join(dir, 'outside.js'), `plugin.serveStaticFolder('/x', '${folder}')`);
      const reply = await rowan.put('/v1/plugins/outside', {
        type: 'javascript',
        params: { address },
      });
      expect([reply.status, reply.text]).toEqual([
        400,
        expect.stringContaining('outside of the directory of the plugin'),
      ]);
    }
  });

  test('that do not exist are exceptions', async () => {
    expect((await get('/routes/else')).json).toEqual([
      '/else',
      'Cannot serve static folder for path that does not exist: none',
      join(dir, 'served'),
    ]);
  });
});

describe('plugin directories', () => {
  test('are searched at start; what fails is left out', async () => {
    expect((await rowan.get('/v1/plugins/hello/routes/x')).json).toBe('hello');
    const ids = (await rowan.get('/v1/plugins')).json;
    expect(ids).not.toContain('snake');
  });
});

describe('scripts', () => {
  test('come from one place', async () => {
    for (const scriptConfig of [{}, { source: '1', address: 'file://a.js' }]) {
      for (const [kind, type] of [
        ['procedures', 'script.run'],
        ['functions', 'script.apply'],
      ]) {
        const reply = await rowan.put(`/v1/${kind}/placeless`, { type, params: { scriptConfig } });
        expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('for script')]);
      }
    }
    const plugin = { type: 'javascript', params: { source: {} } };
    expect((await rowan.put('/v1/plugins/placeless', plugin)).status).toBe(400);
  });

  test('run procedures with what they are given', async () => {
    const mock = "mldb.createProcedure({type: 'mock', params: {durationMs: 60000}})";
    expect(await script(`${mock}.run({durationMs: 5})`)).toEqual({});
    expect(await script(`${mock}.run({parameters: {durationMs: 5}})`)).toEqual({});
    await expect(script(`${mock}.run({zork: 5})`)).rejects.toThrow('unknown field params.zork');
  });

  test('record every kind of value and read it back', async () => {
    const rows = await script(`
      var d = mldb.createDataset({id: 'kinds', type: 'sparse.mutable'});
      d.recordRow('r', [
        ['i', mldb.createInterval(1, 2, 3), 0], ['p', mldb.createPath(['a', 'b.c']), 0],
        ['d', new Date(1000), '1970-01-01T00:00:05Z'], ['b', 2n ** 60n, 0], ['x', NaN, 0]]).commit();
      var copy = mldb.createDataset({id: 'copy', type: 'sparse.mutable'});
      copy.recordRows(mldb.query('SELECT * FROM kinds')).commit();
      var cell = Object.fromEntries(mldb.query('SELECT * FROM copy')[0].columns.map(([n, v]) => [n, v]));
      [cell.d instanceof Date, typeof cell.b, cell.i, cell.p, Number.isNaN(cell.x)]`);
    expect(rows).toEqual([
      true,
      'bigint',
      { interval: '1 MONTH 2D 3S' },
      { path: ['a', 'b.c'] },
      true,
    ]);
    const types = await rowan.query('SELECT d, i, p, b FROM copy', { rowNames: false });
    expect(types).toEqual([
      ['d', 'i', 'p', 'b'],
      ['1970-01-01T00:00:01Z', '1 MONTH 2D 3S', 'a."b.c"', 2n ** 60n],
    ]);
  });

  test('call functions with dates in their inputs', async () => {
    const result = await script(`
      var f = mldb.createFunction({type: 'sql.expression', params: {expression: 'x * 10 AS y, t + INTERVAL \\'1D\\' AS u'}});
      [f.call({x: 10, t: new Date(0)})[0][1], f.callJson({x: 4})]`);
    expect(result).toEqual([['y', [100, '-Inf']], { y: 40, u: null }]);
  });

  test('catch what the service refuses', async () => {
    const source = `try { mldb.createDataset({type: 'no.such'}) } catch (e) { [e instanceof Error, e.httpCode, e.error === e.message] }`;
    expect(await script(source)).toEqual([true, 400, true]);
    expect(await script('try { require("fs") } catch (e) { e.message }')).toBe(
      'Only require modules under mldb are supported',
    );
    expect(await script('try { require("mldb/no") } catch (e) { e.message }')).toBe(
      'Unable to find javascript module mldb/no',
    );
  });

  test('are told what arguments they got wrong', async () => {
    const of = (call: string) => script(`try { ${call} } catch (e) { e.message }`);
    const dataset = 'mldb.createDataset({type: "sparse.mutable"})';
    expect(await of(`${dataset}.recordRow('x')`)).toBe('tuples: expected an array; got undefined');
    expect(await of(`${dataset}.recordRows(5)`)).toBe('rows: expected an array; got 5');
    expect(await of(`${dataset}.recordRows(['x'])`)).toBe(
      'name and tuples: expected an array; got x',
    );
    await writeFile(join(dir, 'some.bin'), 'abc');
    const stream = `mldb.openStream('${pathToFileURL(dir).href}/some.bin')`;
    expect(await of(`${stream}.readBytes()`)).toBe(
      'a count of bytes is a whole number from 0 on; got undefined',
    );
    expect(await of(`${stream}.readBlob(-2)`)).toBe(
      'a count of bytes is a whole number from -1 on; got -2',
    );
    const makeUpper = `mldb.createFunction({id: 'upper', type: 'sql.expression', params: {expression: '1'}})`;
    expect(await of(makeUpper)).toBe('SQL already has a built-in function named upper');
    expect((await rowan.get('/v1/functions')).json).not.toContain('upper');
    expect(await script('try { mldb.query("selec") } catch (e) { e.code }')).toBe('SQL_SYNTAX');
  });

  test('see no timestamps where there are no cells', async () => {
    const source = 'mldb.createDataset({type: "sparse.mutable"}).getTimestampRange()';
    expect(await script(source)).toEqual([null, null]);
  });

  test('that replace parts of the language harm only themselves', async () => {
    expect(await script('JSON.stringify = JSON.parse = null; ({a: 1})')).toEqual({ a: 1 });
    const source = 'Object.prototype.toJSON = () => 5; throw new Error("x")';
    const { status, json } = await rowan.post('/v1/types/plugins/javascript/routes/run', {
      source,
    });
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'SCRIPT_EXCEPTION' });
  });

  test('read streams', async () => {
    await writeFile(join(dir, 'numbers.bin'), Uint8Array.of(255, 1, 2, 3, 4));
    await writeFile(join(dir, 'values.json'), ' {"a": "}\\"", "b": [1]} 17 "x"');
    const url = pathToFileURL(dir).href;
    expect(
      await script(
        `var s = mldb.openStream('${url}/numbers.bin'); [s.readI8(), s.readU32BE(), s.eof(), s.readBytes(1), s.eof()]`,
      ),
    ).toEqual([-1, 0x01020304, false, [], true]);
    expect(
      await script(
        `var s = mldb.openStream('${url}/values.json'); [s.readJson(), s.readJson(), s.readJson()]`,
      ),
    ).toEqual([{ a: '}"', b: [1] }, 17, 'x']);
    expect(await script(`mldb.openStream('${url}/numbers.bin').readBlob(2)`)).toEqual({
      blob: [255, 1],
    });
  });

  test('run scripts that run scripts', async () => {
    const nest = (source: string) =>
      `mldb.post('/v1/types/plugins/javascript/routes/run', {source: ${JSON.stringify(source)}}).json.result`;
    expect(await script(nest(nest(nest('"deep"'))))).toBe('deep');
  });

  test('do not stop other requests while they compute', async () => {
    const loop = rowan.post('/v1/types/plugins/javascript/routes/run', {
      source: 'while (true) {}',
    });
    let isLoopDone = false;
    void loop.then(() => {
      isLoopDone = true;
    });
    for (let i = 0; i < 20; i++) expect((await rowan.get('/v1/health')).status).toBe(200);
    expect(isLoopDone).toBe(false);
    expect((await loop).status).toBe(504);
  });

  test('as functions get a row and make one', async () => {
    await rowan.put('/v1/functions/applied', {
      type: 'script.apply',
      params: { scriptConfig: { source: 'args[0].map(([c, [v]]) => [c + "2", v * 2, 0])' } },
    });
    const reply = await rowan.get('/v1/functions/applied/application', {
      input: { args: { a: 1, b: 2 } },
      outputFormat: 'json',
    });
    expect(reply.json).toEqual({ return: { a2: 2, b2: 4 } });
    await rowan.put('/v1/functions/flat', {
      type: 'script.apply',
      params: { scriptConfig: { source: '[[1, 2]]' } },
    });
    const flat = await rowan.get('/v1/functions/flat/application', { input: { args: {} } });
    expect([flat.status, (flat.json as { error: string }).error]).toEqual([
      400,
      'elem should be array of size 3',
    ]);
  });

  test('in procedures keep their exception', async () => {
    await rowan.put('/v1/procedures/scripted', {
      type: 'script.run',
      params: { scriptConfig: { source: 'plugin.log("hi"); if (args.bad) throw "bad"; args.n' } },
    });
    const ok = await rowan.put('/v1/procedures/scripted/runs/1', { args: { n: 3 } });
    expect(ok.json).toMatchObject({ state: 'finished', status: 3 });
    const details = await rowan.get('/v1/procedures/scripted/runs/1/details');
    expect(details.json).toMatchObject({
      statusCode: 200,
      result: 3,
      logs: [{ s: 'logs', c: 'hi\n' }],
    });
    const bad = await rowan.put('/v1/procedures/scripted/runs/2', { args: { bad: true } });
    expect(bad.status).toBe(400);
    expect(bad.json).toMatchObject({ details: { exception: { message: 'Uncaught bad' } } });
    const other = await rowan.put('/v1/procedures/python', {
      type: 'script.run',
      params: { language: 'python', scriptConfig: { source: '1' } },
    });
    expect((other.json as { error: string }).error).toContain('unknown script language');
  });

  test('in queries have the rights of the caller', async () => {
    const q = `SELECT jseval('return mldb.put("/v1/datasets/made", {type: "sparse.mutable"}).responseCode', '')`;
    const query = (role: 'reader' | 'editor') =>
      rowan.as(role).get('/v1/query', { q, format: 'atom' });
    expect((await query('reader')).json).toBe(403);
    expect((await query('editor')).json).toBe(201);
  });

  test('are described by their modules', async () => {
    const path = '/v1/types/plugins/javascript/routes/modules';
    const unittest = await rowan.get(`${path}/mldb/unittest`);
    expect(unittest.json).toMatchObject({
      assertEqual: { type: 'function', summary: expect.any(String), source: expect.any(String) },
    });
    const one = await rowan.get(`${path}/mldb`, { symbol: 'query' });
    expect(Object.keys(one.json as object)).toEqual(['query']);
    expect((await rowan.get(`${path}/mldb/doc.md`)).text).toContain('## createDataset');
    expect((await rowan.get(`${path}/mldb/doc.html`)).text).toContain('<h2>createDataset</h2>');
    expect((await rowan.get(`${path}/none`)).status).toBe(404);
  });
});
