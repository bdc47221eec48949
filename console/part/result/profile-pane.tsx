// What the columns of a result hold. Only columns on the screen are looked at, two at a time.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Result } from '../../state/result.ts';
import { readSetting, writeSetting } from '../../state/store.ts';
import type { ColumnProfile, ResultColumn } from '../../worker/protocol.ts';
import { Button } from '../basic.tsx';
import { columnExpression, withFilter } from '../sql/text.ts';
import { ColumnCard, type ColumnFacts } from './column-card.tsx';
import { conditionOf } from './result-grid.tsx';

const AT_A_TIME = 2;

export function ProfilePane({
  result,
  visible,
  onRewrite,
  onReveal,
}: {
  readonly result: Result;
  readonly visible: readonly number[];
  readonly onRewrite?: ((sql: string) => void) | undefined;
  readonly onReveal: (column: number) => void;
}) {
  const [isOn, setOn] = useState(readSetting('profiles') !== 'off');
  const [search, setSearch] = useState('');
  const [profiles, setProfiles] = useState<ReadonlyMap<number, ColumnProfile | string>>(new Map());
  const columns = result.columns.value;
  const isRunning = result.state.value === 'running';
  const found = useMemo(() => {
    const wanted = search.trim().toLowerCase();
    if (wanted === '') return visible;
    const matches: number[] = [];
    columns.forEach(({ name }, index) => {
      if (matches.length < 40 && name.toLowerCase().includes(wanted)) matches.push(index);
    });
    return matches;
  }, [search, visible, columns]);

  useEffect(() => setProfiles(new Map()), [result]);
  useEffect(() => {
    if (!isOn || isRunning || result.rowCount.value === 0) return;
    let isOver = false;
    const pending = found.filter((column) => !profiles.has(column));
    const work = async () => {
      for (
        let column = pending.shift();
        column !== undefined && !isOver;
        column = pending.shift()
      ) {
        const at = column;
        const profile = await result.profile(at).catch((thrown: Error) => thrown.message);
        if (!isOver) setProfiles((known) => new Map(known).set(at, profile));
      }
    };
    for (let count = 0; count < AT_A_TIME; count++) void work();
    return () => {
      isOver = true;
    };
  }, [result, found, isOn, isRunning]);

  const toggle = () => {
    writeSetting('profiles', isOn ? 'off' : undefined);
    setOn(!isOn);
  };

  return (
    <aside class="profile-pane" aria-label="Columns" data-region>
      <div class="row spread">
        <input
          type="search"
          placeholder={`Find in ${columns.length} columns`}
          aria-label="Find a column"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <Button
          icon="eye"
          kind="bare"
          label={isOn ? 'Turn profiles off' : 'Turn profiles on'}
          aria-pressed={isOn}
          onClick={toggle}
        />
      </div>
      <ul class="plain">
        {found.map((index) => {
          const column = columns[index];
          if (column === undefined) return null;
          const profile = profiles.get(index);
          const facts = isOn && typeof profile === 'object' ? factsOf(profile) : undefined;
          return (
            <li key={index}>
              <ColumnCard
                name={column.name}
                kind={column.kind}
                facts={facts}
                note={typeof profile === 'string' ? profile : undefined}
                onName={() => onReveal(index)}
                onValue={
                  onRewrite &&
                  ((value) => onRewrite(withFilter(result.sql, valueCondition(column, value))))
                }
                onRange={
                  onRewrite &&
                  ((from, to) =>
                    onRewrite(withFilter(result.sql, rangeCondition(column, from, to))))
                }
              />
            </li>
          );
        })}
      </ul>
    </aside>
  );
}

function factsOf(profile: ColumnProfile): ColumnFacts {
  return {
    ...profile,
    scope: profile.isWhole ? 'all rows' : `first ${profile.rows.toLocaleString('en')} rows`,
  };
}

function valueCondition({ name, kind }: ResultColumn, value: string): string {
  const isNumber = kind === 'integer' || kind === 'number';
  return conditionOf(name, kind, isNumber ? Number(value) : value);
}

export function rangeCondition({ name, kind }: ResultColumn, from: number, to: number): string {
  const expression = columnExpression(name);
  const literal = (value: number) =>
    kind === 'timestamp' ? `TIMESTAMP '${new Date(value).toISOString()}'` : String(value);
  return `${expression} BETWEEN ${literal(from)} AND ${literal(to)}`;
}
