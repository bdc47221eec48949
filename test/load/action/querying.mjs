// Queries, from the smallest to those that somebody gives up.
import { expectJson, expectStatus, expectTrue } from '../expect.mjs';
import { GROUP_COUNT, ROW_COUNT } from '../fixture.mjs';

const LIST_LENGTH = 5000;
const ABANDON_MS_MAX = 60;

function ask(connection, q) {
  return connection.send('POST', '/v1/query', {
    q,
    format: 'table',
    headers: false,
    rowNames: false,
  });
}

export const QUERYING = [
  {
    name: 'query of nothing',
    weight: 8,
    async perform({ connection, random }) {
      const n = Math.floor(random() * 1000);
      expectJson([[n + 1]], await ask(connection, `SELECT ${n} + 1`));
    },
  },
  {
    name: 'scan',
    weight: 6,
    async perform({ connection, random }) {
      const n = Math.floor(random() * ROW_COUNT) + 1;
      const reply = await ask(connection, `SELECT count(*), sum(a) FROM big WHERE a < ${n}`);
      expectJson([[n, (n * (n - 1)) / 2]], reply);
    },
  },
  {
    name: 'group by',
    weight: 4,
    async perform({ connection }) {
      const q = 'SELECT b, count(*) FROM big GROUP BY b ORDER BY b';
      const countOf = (i) => Math.ceil((ROW_COUNT - i) / GROUP_COUNT);
      const groups = Array.from({ length: GROUP_COUNT }, (_, i) => [`group ${i}`, countOf(i)]);
      expectJson(groups, await ask(connection, q));
    },
  },
  {
    name: 'order by',
    weight: 3,
    async perform({ connection }) {
      const reply = await ask(connection, 'SELECT c FROM big ORDER BY c DESC LIMIT 3');
      expectJson([[ROW_COUNT - 0.5], [ROW_COUNT - 1.5], [ROW_COUNT - 2.5]], reply);
    },
  },
  {
    name: 'join',
    weight: 2,
    async perform({ connection, random }) {
      const n = Math.floor(random() * 1000);
      const reply = await ask(
        connection,
        `SELECT count(*) FROM big AS x JOIN big AS y ON x.a = y.a WHERE x.a < ${n}`,
      );
      expectJson([[n]], reply);
    },
  },
  {
    name: 'long result',
    weight: 2,
    async perform({ connection }) {
      const q = encodeURIComponent(`SELECT a FROM big WHERE a < ${LIST_LENGTH}`);
      const reply = await connection.send('GET', `/v1/query?q=${q}&format=csv&rowNames=0`);
      const lines = expectStatus(200, reply).text.trimEnd().split('\n').slice(1);
      const sum = lines.reduce((total, line) => total + Number(line), 0);
      expectTrue(lines.length === LIST_LENGTH, `${lines.length} lines of ${LIST_LENGTH}`);
      expectTrue(sum === (LIST_LENGTH * (LIST_LENGTH - 1)) / 2, `the lines sum up to ${sum}`);
    },
  },
  {
    name: 'query that nobody waits for',
    weight: 1,
    async perform({ connection, random }) {
      const q = encodeURIComponent('SELECT count(*) FROM big AS x JOIN big AS y ON x.a < y.a');
      await connection.abandon('GET', `/v1/query?q=${q}`, random() * ABANDON_MS_MAX);
    },
  },
];
