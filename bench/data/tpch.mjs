// The tables and queries of TPC-H: rows from a seed, with the distributions that the published
// specification gives (4.2.3), though not the bytes of its own generator.

import { once } from 'node:events';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomUniforms } from './random.mjs';

/** Part of the file names: a change of the rows below must change it. */
const VERSION = 1;

const CACHE = fileURLToPath(new URL('../.cache/', import.meta.url));
const QUERIES = fileURLToPath(new URL('tpch/', import.meta.url));

/** The 22 queries with their validation parameters, by name. */
export function tpchQueries() {
  return readdirSync(QUERIES)
    .sort()
    .map((file) => ({
      name: file.slice(0, -'.sql'.length),
      sql: readFileSync(join(QUERIES, file), 'utf8').trim(),
    }));
}

/** The header and the rows of each table as lines of CSV, in one pass: lineitem follows orders. */
export function* tpchLines(scale) {
  const counts = {
    supplier: Math.max(1, Math.round(scale * 10_000)),
    part: Math.max(1, Math.round(scale * 200_000)),
    customer: Math.max(1, Math.round(scale * 150_000)),
    orders: Math.max(1, Math.round(scale * 1_500_000)),
  };
  for (const [table, header] of Object.entries(HEADERS)) yield [table, header];
  for (const [key, name] of REGIONS.entries())
    yield ['region', `${key},${name},${text(61, key, 40)}`];
  for (const [key, [name, region]] of NATIONS.entries()) {
    yield ['nation', `${key},${name},${region},${text(62, key, 60)}`];
  }
  yield* suppliers(counts);
  yield* parts(counts);
  yield* customers(counts);
  yield* orders(counts);
}

/** @returns the paths of the CSV files by table, written when there are none */
export async function tpchFiles(scale, folder = CACHE) {
  const paths = Object.fromEntries(
    Object.keys(HEADERS).map((table) => [
      table,
      join(folder, `tpch-v${VERSION}-${scale}-${table}.csv`),
    ]),
  );
  if (Object.values(paths).every(existsSync)) return paths;
  mkdirSync(folder, { recursive: true });
  const drafts = new Map(
    Object.entries(paths).map(([table, path]) => {
      const draft = `${path}.${process.pid}.part`;
      return [table, { path, draft, stream: createWriteStream(draft), pending: [] }];
    }),
  );
  const flush = async (file) => {
    const full = !file.stream.write(`${file.pending.join('\n')}\n`);
    file.pending = [];
    if (full) await once(file.stream, 'drain');
  };
  for (const [table, line] of tpchLines(scale)) {
    const file = drafts.get(table);
    if (file.pending.push(line) === 10_000) await flush(file);
  }
  for (const file of drafts.values()) {
    if (file.pending.length > 0) await flush(file);
    file.stream.end();
    await once(file.stream, 'finish');
    renameSync(file.draft, file.path);
  }
  return paths;
}

const HEADERS = {
  region: 'r_regionkey,r_name,r_comment',
  nation: 'n_nationkey,n_name,n_regionkey,n_comment',
  supplier: 's_suppkey,s_name,s_address,s_nationkey,s_phone,s_acctbal,s_comment',
  part: 'p_partkey,p_name,p_mfgr,p_brand,p_type,p_size,p_container,p_retailprice,p_comment',
  partsupp: 'ps_partkey,ps_suppkey,ps_availqty,ps_supplycost,ps_comment',
  customer: 'c_custkey,c_name,c_address,c_nationkey,c_phone,c_acctbal,c_mktsegment,c_comment',
  orders:
    'o_orderkey,o_custkey,o_orderstatus,o_totalprice,o_orderdate,o_orderpriority,o_clerk,o_shippriority,o_comment',
  lineitem:
    'l_orderkey,l_partkey,l_suppkey,l_linenumber,l_quantity,l_extendedprice,l_discount,l_tax,l_returnflag,l_linestatus,l_shipdate,l_commitdate,l_receiptdate,l_shipinstruct,l_shipmode,l_comment',
};

export const TPCH_TABLES = Object.keys(HEADERS);

const REGIONS = ['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'];
const NATIONS = [
  ['ALGERIA', 0],
  ['ARGENTINA', 1],
  ['BRAZIL', 1],
  ['CANADA', 1],
  ['EGYPT', 4],
  ['ETHIOPIA', 0],
  ['FRANCE', 3],
  ['GERMANY', 3],
  ['INDIA', 2],
  ['INDONESIA', 2],
  ['IRAN', 4],
  ['IRAQ', 4],
  ['JAPAN', 2],
  ['JORDAN', 4],
  ['KENYA', 0],
  ['MOROCCO', 0],
  ['MOZAMBIQUE', 0],
  ['PERU', 1],
  ['CHINA', 2],
  ['ROMANIA', 3],
  ['SAUDI ARABIA', 4],
  ['VIETNAM', 2],
  ['RUSSIA', 3],
  ['UNITED KINGDOM', 3],
  ['UNITED STATES', 1],
];
const COLORS =
  'almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke snow spring steel tan thistle tomato turquoise violet wheat white yellow'.split(
    ' ',
  );
const TYPES = [
  ['STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO'],
  ['ANODIZED', 'BURNISHED', 'PLATED', 'POLISHED', 'BRUSHED'],
  ['TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER'],
];
const CONTAINERS = [
  ['SM', 'LG', 'MED', 'JUMBO', 'WRAP'],
  ['CASE', 'BOX', 'BAG', 'JAR', 'PKG', 'PACK', 'CAN', 'DRUM'],
];
const SEGMENTS = ['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'MACHINERY', 'HOUSEHOLD'];
const PRIORITIES = ['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'];
const INSTRUCTIONS = ['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN'];
const MODES = ['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB'];
const WORDS =
  'foxes ideas theodolites pinto beans instructions dependencies excuses platelets asymptotes courts dolphins multipliers sauternes warthogs frets dinos attainments accounts packages requests deposits sleep wake are cajole haggle nag use boost affix detect integrate furious sly careful blithe quick fluffy slow quiet ruthless thin close dogged daring brave stealthy permanent enticing idle busy regular final ironic even bold silent special pending express unusual carefully blithely quickly furiously slyly above across after against along among around at before behind'.split(
    ' ',
  );

const DAY_MS = 86_400_000;
const START_DAY = Date.UTC(1992, 0, 1) / DAY_MS;
const END_DAY = Date.UTC(1998, 11, 31) / DAY_MS;
/** What is "now" when orders are looked at. */
const CURRENT_DAY = Date.UTC(1995, 5, 17) / DAY_MS;

/** Whole numbers and choices from a seed. */
function source(seed) {
  const uniform = randomUniforms(seed);
  const below = (count) => Math.floor(uniform() * count);
  const between = (least, greatest) => least + below(greatest - least + 1);
  const pick = (list) => list[below(list.length)];
  const words = (lengthMin, lengthMax) => {
    const length = between(lengthMin, lengthMax);
    let line = pick(WORDS);
    while (line.length < length) line += ` ${pick(WORDS)}`;
    return line.slice(0, length).trimEnd();
  };
  const address = () => {
    let line = '';
    for (let i = between(10, 40); i > 0; i--) line += pick(LETTERS);
    return line;
  };
  const phone = (nation) =>
    `${nation + 10}-${between(100, 999)}-${between(100, 999)}-${between(1000, 9999)}`;
  return { below, between, pick, words, address, phone };
}

const LETTERS = [...'0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'];

function text(seed, key, length) {
  return source(seed * 100 + key).words(length, length);
}

const cents = (amount) => (amount / 100).toFixed(2);
const padded = (key) => String(key).padStart(9, '0');
const day = (number) => new Date(number * DAY_MS).toISOString().slice(0, 10);
const retailCents = (part) => 90_000 + (Math.floor(part / 10) % 20_001) + 100 * (part % 1000);

/** The supplier number `index`, of four, of a part. */
function supplierOf(part, index, count) {
  return ((part + index * (Math.floor(count / 4) + Math.floor((part - 1) / count))) % count) + 1;
}

function* suppliers(counts) {
  const { below, between, words, address, phone } = source(71);
  for (let key = 1; key <= counts.supplier; key++) {
    const nation = below(25);
    const balance = cents(between(-99_999, 999_999));
    // Five in 10,000 complain and five recommend; of few suppliers one does each.
    const mark = key % 2000;
    const comment =
      mark === 27
        ? `${words(5, 20)} Customer ${words(5, 15)} Complaints`
        : mark === 54
          ? `${words(5, 20)} Customer ${words(5, 15)} Recommends`
          : words(25, 100);
    yield [
      'supplier',
      `${key},Supplier#${padded(key)},${address()},${nation},${phone(nation)},${balance},${comment}`,
    ];
  }
}

function* parts(counts) {
  const { between, pick, words } = source(72);
  for (let key = 1; key <= counts.part; key++) {
    const colors = new Set();
    while (colors.size < 5) colors.add(pick(COLORS));
    const maker = between(1, 5);
    const type = TYPES.map(pick).join(' ');
    const container = CONTAINERS.map(pick).join(' ');
    const brand = `Brand#${maker}${between(1, 5)}`;
    yield [
      'part',
      `${key},${[...colors].join(' ')},Manufacturer#${maker},${brand},${type},${between(1, 50)},${container},${cents(retailCents(key))},${words(5, 22)}`,
    ];
    for (let i = 0; i < 4; i++) {
      const supplier = supplierOf(key, i, counts.supplier);
      yield [
        'partsupp',
        `${key},${supplier},${between(1, 9999)},${cents(between(100, 100_000))},${words(49, 198)}`,
      ];
    }
  }
}

function* customers(counts) {
  const { below, between, pick, words, address, phone } = source(73);
  for (let key = 1; key <= counts.customer; key++) {
    const nation = below(25);
    const balance = cents(between(-99_999, 999_999));
    yield [
      'customer',
      `${key},Customer#${padded(key)},${address()},${nation},${phone(nation)},${balance},${pick(SEGMENTS)},${words(29, 116)}`,
    ];
  }
}

function* orders(counts) {
  const { below, between, pick, words } = source(74);
  const clerkCount = Math.max(1, Math.round(counts.orders / 1500));
  for (let index = 0; index < counts.orders; index++) {
    // The first eight of each 32 keys are used.
    const key = Math.floor(index / 8) * 32 + (index % 8) + 1;
    // A third of the customers has no orders.
    let customer = between(1, counts.customer);
    while (counts.customer > 2 && customer % 3 === 0) customer = between(1, counts.customer);
    const ordered = between(START_DAY, END_DAY - 151);
    const lineCount = between(1, 7);
    const lines = [];
    let totalCents = 0;
    let shippedCount = 0;
    for (let number = 1; number <= lineCount; number++) {
      const part = between(1, counts.part);
      const supplier = supplierOf(part, below(4), counts.supplier);
      const quantity = between(1, 50);
      const price = quantity * retailCents(part);
      const discount = below(11);
      const tax = below(9);
      const shipped = ordered + between(1, 121);
      const committed = ordered + between(30, 90);
      const received = shipped + between(1, 30);
      const flag = received <= CURRENT_DAY ? pick('RA') : 'N';
      const status = shipped > CURRENT_DAY ? 'O' : 'F';
      if (status === 'F') shippedCount++;
      totalCents += (price * (100 + tax) * (100 - discount)) / 10_000;
      lines.push(
        `${key},${part},${supplier},${number},${quantity},${cents(price)},0.${String(discount).padStart(2, '0')},0.0${tax},${flag},${status},${day(shipped)},${day(committed)},${day(received)},${pick(INSTRUCTIONS)},${pick(MODES)},${words(10, 43)}`,
      );
    }
    const status = shippedCount === lineCount ? 'F' : shippedCount === 0 ? 'O' : 'P';
    yield [
      'orders',
      `${key},${customer},${status},${cents(totalCents)},${day(ordered)},${pick(PRIORITIES)},Clerk#${padded(between(1, clerkCount))},0,${words(19, 78)}`,
    ];
    for (const line of lines) yield ['lineitem', line];
  }
}
