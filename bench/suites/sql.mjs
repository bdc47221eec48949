// Queries beside DuckDB, both in this process, from the text of a query to rows of JavaScript
// values. Tables are warm on both sides.

import { DuckDBInstance } from '@duckdb/node-api';
import { open } from '../../build/js/index.js';
import { constant, Row } from '../../build/js/value/value.js';
import { faresCsv, flightsCsv, ticketsCsv } from '../data/flights.mjs';

export const description = 'queries over flights, beside DuckDB';

const TICKET_ROW_COUNT_MAX = 1_000_000;
const WARM_UP_MS = 400;
const CALL_COUNT = 20_000;
const PREPARED_CALL_COUNT = 2_000;

/**
 * Queries that both understand. `peer` is the text for DuckDB where it differs; `goal` the ratio to
 * reach; rows of a result without an order are sorted before they are compared.
 */
const QUERIES = [
  {
    name: 'group by 1 key',
    sql: 'SELECT UniqueCarrier, count(*) AS n, sum(Distance) AS s, avg(DepTime) AS a FROM flights GROUP BY UniqueCarrier',
    goal: 0.5,
  },
  {
    name: 'group by 2 keys, 90k groups',
    sql: 'SELECT Origin, Dest, count(*) AS n, sum(Distance) AS s FROM flights GROUP BY Origin, Dest',
    goal: 0.5,
  },
  {
    name: 'group by 1M groups',
    sql: 'SELECT Ticket, count(*) AS n, sum(Distance) AS s FROM flights GROUP BY Ticket',
    goal: 1,
  },
  {
    name: 'group by 1M groups, first 10',
    sql: 'SELECT Ticket, count(*) AS n, sum(Distance) AS s FROM flights GROUP BY Ticket ORDER BY s DESC, Ticket LIMIT 10',
    goal: 1,
    isOrdered: true,
  },
  {
    name: 'filter and sum',
    sql: 'SELECT sum(Distance) AS s FROM flights WHERE Distance > 1000 AND DepTime < 1200',
    goal: 0.4,
  },
  {
    name: 'count distinct',
    sql: 'SELECT count_distinct(Origin) AS n FROM flights',
    peer: 'SELECT count(DISTINCT Origin) AS n FROM flights',
    goal: 0.6,
  },
  {
    name: 'count distinct of 1M integers',
    sql: 'SELECT count_distinct(Ticket) AS n FROM flights',
    peer: 'SELECT count(DISTINCT Ticket) AS n FROM flights',
    goal: 0.6,
  },
  {
    name: 'order by, first 100',
    sql: 'SELECT Distance, DepTime, Ticket FROM flights ORDER BY Distance DESC, DepTime, Ticket LIMIT 100',
    goal: 0.5,
    isOrdered: true,
  },
  {
    name: 'order by everything, last row',
    sql: 'SELECT Ticket, Price FROM flights ORDER BY Ticket, Price LIMIT 1 OFFSET $last',
    goal: 1,
    isOrdered: true,
  },
  {
    name: 'join with 10k fares, sum',
    sql: 'SELECT sum(fares.Discount) AS s FROM flights JOIN fares ON flights.Fare = fares.Fare',
    goal: 1,
  },
  {
    name: 'join 1M tickets, sum',
    sql: 'SELECT sum(tickets.Bags) AS s FROM passengers JOIN tickets ON passengers.Ticket = tickets.Ticket',
    goal: 1,
  },
  {
    name: 'LIKE over 50k strings',
    sql: "SELECT count(*) AS n FROM flights WHERE Tail LIKE '%12%A_'",
    goal: 1,
  },
  {
    name: 'regular expression over 50k strings',
    sql: "SELECT count(*) AS n FROM flights WHERE regex_search(Tail, '1[0-4]+[A-F]')",
    peer: "SELECT count(*) AS n FROM flights WHERE regexp_matches(Tail, '1[0-4]+[A-F]')",
    goal: 1,
  },
  {
    name: 'CASE and arithmetic, sum',
    sql: 'SELECT sum(CASE WHEN Distance > 1000 THEN Price * 2 ELSE Price + Distance END) AS s FROM flights',
    goal: 1,
  },
  {
    name: 'first row of each group',
    sql: 'SELECT DISTINCT ON (UniqueCarrier) UniqueCarrier, Distance, Ticket FROM flights ORDER BY UniqueCarrier, Distance DESC, Ticket',
    goal: 1,
    isOrdered: true,
  },
  {
    name: 'sum of x * 2 + y',
    sql: 'SELECT sum(Distance * 2 + DepTime) AS s FROM flights',
    goal: 0.3,
  },
];

export async function prepare({ rowCount }) {
  const ticketRowCount = Math.min(rowCount, TICKET_ROW_COUNT_MAX);
  const files = {
    flights: await flightsCsv(rowCount),
    fares: faresCsv(),
    tickets: ticketsCsv(ticketRowCount, 31),
    passengers: ticketsCsv(ticketRowCount, 32),
  };
  const rowan = await open({ dataDir: null });
  const instance = await DuckDBInstance.create(':memory:');
  const duckdb = await instance.connect();
  for (const [id, path] of Object.entries(files)) {
    const params = { dataFileUrl: `file://${path}`, outputDataset: { id, type: 'tabular' } };
    const reply = await rowan.post('/v1/procedures', {
      type: 'import.text',
      params: { ...params, runOnCreation: true },
    });
    if (reply.status >= 400) throw new Error(reply.text);
    await duckdb.run(`CREATE TABLE ${id} AS SELECT * FROM read_csv('${path}')`);
  }
  const measures = QUERIES.map((query) => queryMeasure(query, { rowan, duckdb, rowCount }));
  for (const { contenders } of measures) {
    for (const contender of Object.values(contenders)) await warmUp(contender);
  }
  measures.push(...(await expressionMeasures(rowan, duckdb)));
  return {
    measures,
    close: async () => {
      duckdb.closeSync();
      await rowan.close();
    },
  };
}

/** Short queries are compiled to machine code only when they have run for a while. */
async function warmUp(contender) {
  const start = performance.now();
  for (let i = 0; i < 50 && performance.now() - start < WARM_UP_MS; i++) await contender();
}

function queryMeasure({ name, sql, peer, goal, isOrdered }, { rowan, duckdb, rowCount }) {
  const textOf = (text) => text.replace('$last', String(rowCount - 1));
  const ours = textOf(sql);
  const theirs = textOf(peer ?? sql);
  return {
    name,
    goal,
    contenders: {
      rowan: async () => {
        const [names, ...rows] = await rowan.query(ours, { rowNames: false });
        return { names, rows };
      },
      duckdb: async () => {
        const result = await duckdb.runAndReadAll(theirs);
        return { names: result.columnNames(), rows: result.getRowsJS() };
      },
    },
    agree: (a, b) => sameRows(a, b, isOrdered === true),
  };
}

/** Doubles may differ in their last bits: they are added up in another order. */
function sameRows(ours, theirs, isOrdered) {
  if (ours.rows.length !== theirs.rows.length) return false;
  const columns = theirs.names.map((name) => ours.names.indexOf(name));
  const a = ours.rows.map((row) => columns.map((column) => row[column]));
  const b = theirs.rows.map((row) => row.map(plain));
  if (!isOrdered) for (const rows of [a, b]) rows.sort(compareRows);
  return a.every((row, i) => row.every((value, j) => isClose(value, b[i][j])));
}

function plain(value) {
  return typeof value === 'bigint' ? Number(value) : value;
}

function compareRows(a, b) {
  for (let i = 0; i < a.length; i++) {
    if (a[i] < b[i]) return -1;
    if (a[i] > b[i]) return 1;
  }
  return 0;
}

function isClose(a, b) {
  if (typeof a !== 'number') return a === b;
  return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
}

/** One small expression, called over and over: how long a second's worth of calls waits. */
async function expressionMeasures(rowan, duckdb) {
  const fn = await rowan.createFunction({
    id: 'line',
    type: 'sql.expression',
    params: { expression: 'x * 2 + y AS z', prepared: true },
  });
  const statement = await duckdb.prepare('SELECT $1::DOUBLE * 2 + $2::DOUBLE AS z');
  const duckdbCalls = async () => {
    let answer = 0;
    const start = performance.now();
    for (let i = 0; i < PREPARED_CALL_COUNT; i++) {
      statement.bindDouble(1, i);
      statement.bindDouble(2, 1);
      const [[z]] = (await statement.runAndReadAll()).getRowsJS();
      answer += z;
    }
    return { value: rate(PREPARED_CALL_COUNT, start), answer: answer / PREPARED_CALL_COUNT };
  };
  const rowanCalls = (call) => () => {
    let answer = 0;
    let compared = 0;
    const start = performance.now();
    for (let i = 0; i < CALL_COUNT; i++) {
      answer += call(i);
      if (i === PREPARED_CALL_COUNT - 1) compared = answer;
    }
    return { value: rate(CALL_COUNT, start), answer: compared / PREPARED_CALL_COUNT };
  };
  const measure = (name, call) => ({
    name,
    unit: 'calls/s',
    largerIsBetter: true,
    goal: 0.01,
    contenders: { rowan: rowanCalls(call), duckdb: duckdbCalls },
    agree: (a, b) => a === b,
  });
  const compiled = rowan.service.engine.mirror.compiledFunction('line');
  const names = ['x', 'y'];
  const one = constant(1);
  const scope = { checkCancelled() {}, host: undefined };
  const typed = (i) => compiled.apply(new Row(names, [constant(i), one]), scope).values[0].atom;
  return [
    measure('x * 2 + y, typed', typed),
    measure('x * 2 + y, JSON in and out', (i) => fn.callJson({ x: i, y: 1 }).z),
  ];
}

function rate(count, start) {
  return Math.round((count * 1000) / (performance.now() - start));
}
