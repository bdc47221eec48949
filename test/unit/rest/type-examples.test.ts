// Every example of the reference of types does what it shows, on an empty service.

import { beforeAll, describe, expect, test } from 'vitest';
import type { EntityType } from '../../../src/dataset/entity-type.ts';
import { Rowan } from '../../../src/index.ts';
import {
  DOCUMENTED_KINDS,
  documentedTypes,
  typePage,
} from '../../../src/rest/doc/type-reference.ts';
import { BUILT_IN_TYPES } from '../../../src/service/entity/built-in-types.ts';

/** Types whose example names a file or a server of the reader's own, and what is said without it. */
const NEEDS_MORE: Readonly<Record<string, string>> = {
  'import.sqlite': 'No such file',
  'import.xlsx': 'No such file',
  'import.repo': 'No such file',
  'docdb.import': 'Could not connect to MongoDB',
  'postgresql.import': 'No credentials found for postgresql',
};

/** Types that ask for more than what is required, and why no single parameter is. */
const ASKS_FOR_MORE: Readonly<Record<string, string>> = {
  clickhouse: 'table or query',
  sampled: 'rows or fraction',
  'classifier.experiment': 'algorithm or configuration',
  'classifier.importance': 'functionName or modelFileUrl',
  'classifier.train': 'algorithm or configuration',
  createEntity: 'id or type',
  javascript: 'source or address',
  'gaussianclustering.train': 'the default of numClusters is more than the example has points',
  'kmeans.train': 'the default of numClusters is more than the example has points',
};

interface PrintedRequest {
  verb: 'PUT' | 'POST';
  path: string;
  body: { type?: string; params?: Record<string, unknown> };
}

interface Outcome {
  status: number;
  text: string;
}

/** What an empty service of its own says to what the page of a type shows. */
interface Trial {
  type: EntityType;
  /** of each printed request */
  printed: Outcome[];
  required: string[];
  /** of the creation with the required parameters alone */
  fewest: Outcome;
  /** of the creation without each of them */
  lacking: Outcome[];
}

let types: EntityType[];
const trials: Trial[] = [];

beforeAll(async () => {
  const rowan = await Rowan.open({ dataDir: null });
  types = DOCUMENTED_KINDS.flatMap((kind) => documentedTypes(rowan.service.types, kind, false));
  await rowan.close();
  for (const type of types) trials.push(await tryType(type));
}, 400_000);

test('each type has an example', () => {
  expect(types.length).toBeGreaterThan(BUILT_IN_TYPES.length);
  const without = types.filter((type) => printedRequests(type).length === 0);
  expect(without.map(({ name }) => name)).toEqual([]);
});

test('every example runs as printed', () => {
  const failures = trials.flatMap(({ type, printed }) => {
    const failed = printed.find(({ status }) => status >= 300);
    if (type.name in NEEDS_MORE || failed === undefined) return [];
    return [`${type.kind} ${type.name}: ${failed.status} ${failed.text}`];
  });
  expect(failures).toEqual([]);
});

test.each(Object.entries(NEEDS_MORE))('the example of %s lacks only that: %s', (name, says) => {
  const trial = trials.find(({ type }) => type.name === name) as Trial;
  expect(trial.printed.find(({ status }) => status >= 300)?.text).toContain(says);
});

describe('parameters that the reference calls required', () => {
  test('are enough', () => {
    const refused = trials.filter(({ fewest }) => fewest.status >= 300);
    const others = [...Object.keys(ASKS_FOR_MORE), ...Object.keys(NEEDS_MORE)];
    expect(refused.map(({ type }) => type.name).sort()).toEqual(others.sort());
  });

  test('are required, each of them', () => {
    const accepted = trials.flatMap(({ type, required, lacking }) =>
      required
        .filter((_, index) => (lacking[index] as Outcome).status < 400)
        .map((name) => `${type.name} does without ${name}`),
    );
    expect(accepted).toEqual([]);
    expect(trials.filter(({ required }) => required.length > 0).length).toBeGreaterThan(50);
  });
});

async function tryType(type: EntityType): Promise<Trial> {
  const requests = printedRequests(type);
  const creation = requests.find(({ path }) => path === `/v1/${type.kind}s/example`);
  const { runOnCreation, ...params } = creation?.body.params ?? {};
  const required = requiredNames(type);
  const variants = [
    Object.fromEntries(required.map((name) => [name, params[name]])),
    ...required.map((name) => ({ ...params, [name]: undefined })),
  ];
  const creations = variants.map((variant, index) => ({
    verb: 'PUT' as const,
    path: `/v1/${type.kind}s/variant_${index}`,
    body: { type: type.name, params: { ...variant, runOnCreation } },
  }));
  const outcomes = await perform([...requests, ...creations]);
  const [fewest, ...lacking] = outcomes.splice(requests.length) as [Outcome, ...Outcome[]];
  return { type, printed: outcomes, required, fewest, lacking };
}

/** Parameters of the page's table whose row says so; members of objects are left out. */
function requiredNames(type: EntityType): string[] {
  const rows = typePage(type).body.matchAll(/<tr><td[^>]*><code>(\w+)<\/code>.*?<\/tr>/gs);
  return [...rows].filter(([row]) => row.includes('>required</td>')).map(([, name = '']) => name);
}

/** The requests that the page of a type shows. */
function printedRequests(type: EntityType): PrintedRequest[] {
  const { body: html } = typePage(type);
  return [...html.matchAll(/<pre><code[^>]*>(.*?)<\/code><\/pre>/gs)].map(([, coloured = '']) => {
    const text = coloured.replace(/<[^>]*>/g, '');
    const [line = '', ...rest] = unescapeHtml(text).split('\n');
    const [verb, path = ''] = line.split(' ');
    const body = JSON.parse(rest.join('\n')) as PrintedRequest['body'];
    return { verb: verb as PrintedRequest['verb'], path, body };
  });
}

function unescapeHtml(text: string): string {
  const named: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
  return text.replace(/&(#?\w+);/g, (_, name: string) => named[name] as string);
}

/** The server of the examples does not exist, which need not take the usual 5 seconds to find out. */
function soonGivenUp(body: PrintedRequest['body']): PrintedRequest['body'] {
  const text = JSON.stringify(body);
  const address = /(mongodb:\/\/[^"?]+)"/g;
  return JSON.parse(text.replaceAll(address, '$1?serverSelectionTimeoutMS=100"'));
}

/** What an empty service answers to requests that are sent one after the other. */
async function perform(requests: readonly PrintedRequest[]): Promise<Outcome[]> {
  const rowan = await Rowan.open({ dataDir: null });
  try {
    const outcomes: Outcome[] = [];
    for (const { verb, path, body } of requests) {
      const { status, text } = await rowan.perform(verb, path, { body: soonGivenUp(body) });
      outcomes.push({ status, text });
    }
    return outcomes;
  } finally {
    await rowan.close();
  }
}
