// The worker that holds results: it reads Arrow while it comes and hands out the cells that are seen.
import { RecordBatchReader } from 'apache-arrow';
import { connect, RowanError } from 'rowan-db/client';
import { HeldResult } from './held-result.ts';
import {
  type FromWorker,
  type Question,
  type RunRequest,
  type ToWorker,
  warningsOf,
} from './protocol.ts';

const results = new Map<number, HeldResult>();
const aborts = new Map<number, AbortController>();

/** More rows than these are not read at once when their number is known. */
const PAGED_ROW_COUNT = 1_000_000;
const PAGE_ROWS = 16_384;

/** The page draws no faster. */
const ROWS_INTERVAL_MS = 80;

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  switch (data.kind) {
    case 'run':
      void run(data);
      break;
    case 'cancel':
      aborts.get(data.result)?.abort();
      break;
    case 'drop':
      aborts.get(data.result)?.abort();
      results.delete(data.result);
      break;
    case 'ask':
      void answer(data.result, data.number, data.question);
  }
};

function post(message: FromWorker): void {
  self.postMessage(message);
}

async function run(request: RunRequest): Promise<void> {
  const { result, sql, rowNames, rowCount = 0 } = request;
  const isPaged = rowCount > PAGED_ROW_COUNT;
  const begun = performance.now();
  const abort = new AbortController();
  aborts.set(result, abort);
  const rowan = connect(request.base, {
    headers: request.headers,
    async fetch(input, init) {
      const response = await fetch(input, init);
      const requestId = response.headers.get('x-request-id') ?? undefined;
      const milliseconds = performance.now() - begun;
      const warnings = warningsOf(response.headers.get('x-rowan-warnings'));
      const { status } = response;
      post({ kind: 'reply', result, status, requestId, warnings, milliseconds });
      return response;
    },
  });
  const held = new HeldResult((from, limit, signal) =>
    rowan
      .query(`SELECT * FROM (${sql}\n) LIMIT ${limit} OFFSET ${from}`, {
        format: 'arrow',
        rowNames,
        signal,
      })
      .arrow(),
  );
  results.set(result, held);
  try {
    const first = isPaged ? `SELECT * FROM (${sql}\n) LIMIT ${PAGE_ROWS}` : sql;
    const bytes = rowan.query(first, { rowNames, signal: abort.signal }).bytes('arrow');
    const reader = await RecordBatchReader.from(bytes);
    await reader.open();
    held.begin(reader.schema);
    post({ kind: 'columns', result, columns: held.columns });
    let toldAt = 0;
    for await (const batch of reader) {
      held.add(batch);
      if (performance.now() - toldAt < ROWS_INTERVAL_MS) continue;
      toldAt = performance.now();
      post({ kind: 'rows', result, rowCount: held.rowCount, sizeBytes: held.sizeBytes });
    }
    if (isPaged) held.expect(rowCount, PAGE_ROWS);
    else held.isWhole = true;
    const milliseconds = performance.now() - begun;
    post({ kind: 'end', result, rowCount: held.rowCount, milliseconds });
  } catch (thrown) {
    const milliseconds = performance.now() - begun;
    const error = factsOf(thrown, held.rowCount);
    post({ kind: 'failed', result, error, rowCount: held.rowCount, milliseconds });
  } finally {
    aborts.delete(result);
  }
}

function factsOf(thrown: unknown, rowCount: number) {
  const known = thrown instanceof RowanError ? thrown : undefined;
  const isBroken = known === undefined || (known.code === 'UNREACHABLE' && rowCount > 0);
  const message = isBroken
    ? `the result broke off after ${rowCount} rows: ${(thrown as Error).message}`
    : known.message;
  return {
    message,
    code: isBroken ? 'BROKEN_STREAM' : known.code,
    httpCode: known?.httpCode ?? 500,
    details: known?.details,
    requestId: known?.extra?.requestId as string | undefined,
  };
}

async function answer(result: number, number: number, question: Question): Promise<void> {
  try {
    const held = results.get(result);
    if (held === undefined) throw new Error('the result is gone; run the query again');
    post({ kind: 'answer', number, answer: await held.answer(question) });
  } catch (thrown) {
    post({ kind: 'refused', number, message: (thrown as Error).message });
  }
}
