// The profile of a whole dataset, as the service keeps it for each version.
import { useEffect, useState } from 'preact/hooks';
import { Button, Failure, Shown, Waiting } from '../../part/basic.tsx';
import { ColumnCard, type ColumnFacts } from '../../part/result/column-card.tsx';
import { conditionOf } from '../../part/result/result-grid.tsx';
import { columnExpression, quoteName, withFilter } from '../../part/sql/text.ts';
import { go } from '../../route.ts';
import { call, entityPath } from '../../state/api.ts';
import { cached } from '../../state/catalogue.ts';

/** A column as the service describes it. */
interface ServedColumn {
  readonly name: string;
  readonly type: string;
  readonly rows: number;
  readonly nulls: number;
  readonly distinct: number;
  readonly approximate?: boolean;
  readonly min?: unknown;
  readonly max?: unknown;
  readonly mean?: number;
  readonly quantiles?: Readonly<Record<string, number>>;
  readonly histogram?: {
    readonly min: number;
    readonly max: number;
    readonly counts: readonly number[];
  };
  readonly mostFrequent: readonly (readonly [value: string, count: number])[];
}

const PAGE = 24;

export function ProfileTab({ id }: { readonly id: string }) {
  const path = entityPath('datasets', id, '/columns?limit=2000');
  const columns = cached<string[]>(path);
  const [count, setCount] = useState(PAGE);
  return (
    <div class="pad">
      <Shown path={path} of={columns}>
        {(names) => (
          <>
            <Cards id={id} names={names.slice(0, count)} />
            {names.length > count && (
              <Button onClick={() => setCount(count + PAGE)}>
                {names.length - count} more columns
              </Button>
            )}
          </>
        )}
      </Shown>
    </div>
  );
}

interface KindOfFacts {
  readonly kind: string;
  readonly facts: ColumnFacts;
}

function Cards({ id, names }: { readonly id: string; readonly names: readonly string[] }) {
  const [known, setKnown] = useState<ReadonlyMap<string, KindOfFacts>>(new Map());
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const missing = names.filter((name) => !known.has(name));
    if (missing.length === 0) return;
    const query = { columns: JSON.stringify(missing) };
    const path = entityPath('datasets', id, '/profile');
    call<{ columns: ServedColumn[] }>('GET', path, { query }).then(
      ({ columns }) =>
        setKnown(
          (before) =>
            new Map([...before, ...columns.map((each) => [each.name, factsOf(each)] as const)]),
        ),
      setError,
    );
  }, [id, names.join('\n')]);
  if (error !== undefined) return <Failure error={error} />;
  if (known.size === 0) return <Waiting />;
  const open = (condition: string) =>
    go(['sql'], { q: withFilter(`SELECT * FROM ${quoteName(id)}`, condition), run: '1' });
  return (
    <div class="cards">
      {names.map((name) => {
        const { kind = '', facts } = known.get(name) ?? {};
        const isNumber = facts?.histogram !== undefined;
        return (
          <ColumnCard
            key={name}
            name={name}
            kind={kind}
            facts={facts}
            onValue={(value) =>
              open(
                conditionOf(name, isNumber ? 'number' : 'text', isNumber ? Number(value) : value),
              )
            }
            onRange={(from, to) => open(`${columnExpression(name)} BETWEEN ${from} AND ${to}`)}
          />
        );
      })}
    </div>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  int32: 'integer',
  float64: 'number',
  timestamp: 'timestamp',
  dictionary: 'text',
};

function factsOf(column: ServedColumn): KindOfFacts {
  const {
    type,
    rows,
    nulls,
    distinct,
    approximate,
    min,
    max,
    mean,
    quantiles,
    histogram,
    mostFrequent,
  } = column;
  const scope = approximate === true ? `first ${rows.toLocaleString('en')} rows` : 'all rows';
  const top = mostFrequent.map(([value, count]) => ({ value: String(value), count }));
  return {
    kind: KINDS[type] ?? type,
    facts: {
      ...{ rows, nulls, distinct, top, scope },
      isDistinctExact: approximate !== true,
      ...(min === undefined || min === null ? {} : { minimum: String(min) }),
      ...(max === undefined || max === null ? {} : { maximum: String(max) }),
      ...(mean === undefined ? {} : { mean }),
      ...(quantiles === undefined
        ? {}
        : {
            quantiles: [
              quantiles['0.25'] ?? 0,
              quantiles['0.5'] ?? 0,
              quantiles['0.75'] ?? 0,
            ] as const,
          }),
      ...(histogram === undefined
        ? {}
        : { histogram: { from: histogram.min, to: histogram.max, counts: histogram.counts } }),
    },
  };
}
