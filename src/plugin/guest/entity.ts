// The entity objects of scripts.
import { fromCell, toCell, toTimestamp } from './atom.ts';
import type { Host } from './host.ts';
import { request } from './rest.ts';

type Name = string | number | readonly string[];
type Tuple = readonly [name: Name, value: unknown, timestamp: unknown];
/** what queries give: `{rowName, columns}` */
interface QueriedRow {
  readonly rowName: Name;
  readonly columns?: readonly Tuple[];
}

interface StatusDocument {
  readonly type?: string;
  readonly config?: unknown;
  readonly status?: unknown;
}

class EntityObject {
  readonly #host: Host;
  readonly #path: string;
  readonly #id: string;

  constructor(host: Host, plural: string, id: string) {
    this.#host = host;
    this.#id = id;
    this.#path = `/v1/${plural}/${encodeURIComponent(id)}`;
  }

  protected get host(): Host {
    return this.#host;
  }

  protected request(verb: string, subPath: string, payload?: unknown): unknown {
    return request(this.#host, verb, this.#path + subPath, payload);
  }

  id(): string {
    return this.#id;
  }

  type(): string | undefined {
    return this.#document().type;
  }

  config(): unknown {
    return this.#document().config;
  }

  status(): unknown {
    return this.#document().status;
  }

  #document(): StatusDocument {
    return this.request('GET', '') as StatusDocument;
  }
}

export class DatasetObject extends EntityObject {
  constructor(host: Host, id: string) {
    super(host, 'datasets', id);
  }

  recordRow(rowName: Name, columns: readonly Tuple[]): this {
    this.request('POST', '/rows', { rowName, columns: cellTuples(columns) });
    return this;
  }

  recordRows(rows: readonly (readonly [Name, readonly Tuple[]] | QueriedRow)[]): this {
    this.request('POST', '/multirows', arrayOf(rows, 'rows').map(namedTuples));
    return this;
  }

  recordColumn(columnName: Name, rows: readonly Tuple[]): this {
    this.request('POST', '/columns', { columnName, rows: cellTuples(rows) });
    return this;
  }

  recordColumns(columns: readonly (readonly [Name, readonly Tuple[]])[]): this {
    this.request('POST', '/multicolumns', arrayOf(columns, 'columns').map(namedTuples));
    return this;
  }

  commit(): this {
    this.request('POST', '/commit', {});
    return this;
  }

  details(): unknown {
    return null;
  }

  getColumnPaths(): string[] {
    return this.request('GET', '/columns') as string[];
  }

  /** The earliest and the latest timestamp; null without any cell. */
  getTimestampRange(): (Date | null)[] {
    const range = this.request('GET', '/timestampRange') as (string | null)[];
    return range.map((date) => (date === null ? null : new Date(date)));
  }
}

function namedTuples(
  row: readonly [Name, readonly Tuple[]] | QueriedRow,
): [name: Name, tuples: unknown[]] {
  if (typeof row !== 'object' || row === null) arrayOf(row, 'name and tuples');
  const [name, tuples] = 'rowName' in row ? [row.rowName, row.columns ?? []] : row;
  return [name, cellTuples(tuples)];
}

function cellTuples(tuples: readonly Tuple[]): unknown[][] {
  return arrayOf(tuples, 'tuples').map(cellTuple);
}

/** @throws TypeError: programs may hand over anything */
function arrayOf<Element>(value: readonly Element[], what: string): readonly Element[] {
  if (Array.isArray(value)) return value;
  throw new TypeError(`${what}: expected an array; got ${value}`);
}

/** A tuple of any other length is refused by the service, with the place. */
function cellTuple(tuple: Tuple): unknown[] {
  return arrayOf(tuple, 'tuple').map((member, index) =>
    index === 1 ? toCell(member) : index === 2 ? toTimestamp(member) : member,
  );
}

export class FunctionObject extends EntityObject {
  constructor(host: Host, id: string) {
    super(host, 'functions', id);
  }

  /** The output as plain JSON. */
  callJson(input: Readonly<Record<string, unknown>> = {}): unknown {
    return this.host.call('apply', { id: this.id(), input: toInput(input), format: 'json' });
  }

  /** The output and its date; a row is an array of `[name, [value, date]]`. */
  call(input: Readonly<Record<string, unknown>> = {}): unknown {
    const dated = this.host.call('apply', {
      id: this.id(),
      input: toInput(input),
      format: 'dated',
    });
    return fromCell(dated);
  }

  details(): unknown {
    return this.request('GET', '/details');
  }
}

/** Dates and opaque atoms become cells; everything else is a row or a plain value. */
function toInput(value: unknown): unknown {
  const cell = toCell(value);
  if (typeof cell !== 'object' || cell === null) return cell;
  if (cell !== value || typeof (cell as { toJSON?: unknown }).toJSON === 'function') {
    return { $cell: cell };
  }
  if (Array.isArray(cell)) return { $array: cell.map(toInput) };
  return { $row: Object.entries(cell).map(([name, member]) => [name, toInput(member)]) };
}

export class ProcedureObject extends EntityObject {
  constructor(host: Host, id: string) {
    super(host, 'procedures', id);
  }

  /** Runs it; the run is not listed. @throws when it fails */
  run(config: Readonly<Record<string, unknown>> = {}): unknown {
    const { id: _, params, parameters, ...others } = config;
    const given = { ...others, ...((params ?? parameters) as object | undefined) };
    return this.host.call('run-procedure', { id: this.id(), params: given });
  }
}

export class SensorObject extends EntityObject {
  constructor(host: Host, id: string) {
    super(host, 'sensors', id);
  }
}
