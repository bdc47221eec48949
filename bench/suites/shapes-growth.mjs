// How the queries of many shapes grow with rows: from a twentieth of them over a quarter to all. An exponent
// of 1 is linear; below it, what every query costs weighs more than its rows.
import { openShapes, shapes } from './shapes.mjs';

export const description = 'growth of queries of many shapes with rows, beside DuckDB: 1 is linear';

const PARTS = [20, 4, 1];
const ROUND_COUNT = 3;

export async function prepare({ rowCount }) {
  const sizes = PARTS.map((part) => Math.round(rowCount / part));
  const services = [];
  for (const size of sizes) services.push(await openShapes(size));
  const exponents = new Map();
  const growth = (contender, shape) => async () => {
    const times = [];
    for (const service of services) times.push(await timeOf(() => service[contender](shape)));
    const value = slopeOf(sizes.map(Math.log), times.map(Math.log));
    exponents.set(contender, [...(exponents.get(contender) ?? []), value]);
    return { value };
  };
  const agree = () => true;
  return {
    measures: [
      ...shapes.map((shape) => ({
        ...{ name: `${shape.name}: exponent`, unit: '', agree },
        contenders: { rowan: growth('ours', shape), duckdb: growth('theirs', shape) },
      })),
      {
        ...{ name: 'mean of all exponents', unit: '', agree },
        contenders: {
          rowan: () => ({ value: meanOf(exponents.get('ours')) }),
          duckdb: () => ({ value: meanOf(exponents.get('theirs')) }),
        },
      },
    ],
    async close() {
      for (const service of services) await service.close();
    },
  };
}

/** The least of some rounds, which other processes disturb least. */
async function timeOf(ask) {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUND_COUNT; round++) {
    const started = performance.now();
    await ask();
    least = Math.min(least, performance.now() - started);
  }
  return least;
}

/** The slope of the line of least squares. */
function slopeOf(x, y) {
  const [meanX, meanY] = [meanOf(x), meanOf(y)];
  const products = x.reduce((sum, value, i) => sum + (value - meanX) * (y[i] - meanY), 0);
  return products / x.reduce((sum, value) => sum + (value - meanX) ** 2, 0);
}

function meanOf(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
