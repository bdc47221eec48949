// Calls of functions and plugins.
import { expectJson, expectStatus, expectTrue } from '../expect.mjs';
import { EXPRESSION, QUERY } from '../fixture.mjs';

const BATCH_SIZE = 100;
const LINE_COUNT = 200;

export const APPLYING = [
  {
    name: 'apply by query string',
    weight: 20,
    async perform({ connection, random }) {
      const x = Math.floor(random() * 1e6);
      const input = encodeURIComponent(JSON.stringify({ x }));
      const path = `/v1/functions/${EXPRESSION}/application?input=${input}`;
      expectJson({ output: { y: 2 * x + 1 } }, await connection.send('GET', path));
    },
  },
  {
    name: 'apply by body',
    weight: 20,
    async perform({ connection, random }) {
      const x = random();
      const path = `/v1/functions/${EXPRESSION}/application`;
      const reply = await connection.send('POST', path, { input: { x } });
      expectJson({ output: { y: 2 * x + 1 } }, reply);
    },
  },
  {
    name: 'apply a query',
    weight: 4,
    async perform({ connection, random }) {
      const limit = Math.floor(random() * 1000);
      const path = `/v1/functions/${QUERY}/application`;
      expectJson(
        { output: { n: limit } },
        await connection.send('POST', path, { input: { limit } }),
      );
    },
  },
  {
    name: 'batch',
    weight: 4,
    async perform({ connection, random }) {
      const input = Array.from({ length: BATCH_SIZE }, () => ({ x: Math.floor(random() * 1e6) }));
      const path = `/v1/functions/${EXPRESSION}/batch`;
      const reply = await connection.send('POST', path, { input });
      expectJson(
        input.map(({ x }) => ({ y: 2 * x + 1 })),
        reply,
      );
    },
  },
  {
    name: 'stream of calls',
    weight: 1,
    async perform({ connection }) {
      const lines = Array.from({ length: LINE_COUNT }, (_, x) => `{"x":${x}}\n`).join('');
      const path = `/v1/functions/${EXPRESSION}/stream`;
      const { text } = expectStatus(200, await connection.send('POST', path, lines));
      const answers = text.trimEnd().split('\n');
      expectTrue(answers.length === LINE_COUNT, `${answers.length} lines of ${LINE_COUNT}`);
      expectTrue(
        JSON.parse(answers.at(-1)).y === 2 * LINE_COUNT - 1,
        `last line ${answers.at(-1)}`,
      );
    },
  },
  {
    name: 'plugin route',
    weight: 8,
    async perform({ connection, name }) {
      const path = `/v1/plugins/echo/routes/${name}`;
      const reply = await connection.send('GET', `${path}?a=1`);
      expectJson({ verb: 'GET', path, query: [['a', '1']] }, reply);
    },
  },
];
