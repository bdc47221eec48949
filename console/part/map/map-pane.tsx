// A map of rows in a plane, for instance of an embedding: coloured by any column, down to the rows.
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { go, place, replacePlace } from '../../route.ts';
import { call, entityPath, queryRows } from '../../state/api.ts';
import { cached } from '../../state/catalogue.ts';
import { Result } from '../../state/result.ts';
import type { MapPoints } from '../../worker/protocol.ts';
import { Button, Choice, Failure, Waiting } from '../basic.tsx';
import { ResultGrid } from '../result/result-grid.tsx';
import { quoteName } from '../sql/text.ts';
import { MapCanvas } from './map-canvas.tsx';
import { type MapChoice, planeOf, pointsSql, rowsSql, samplingOf } from './map-query.ts';
import { type Box, type Palette, rowsIn } from './map-view.ts';

const COLUMN_COUNT_MAX = 2000;

export function MapPane({
  dataset,
  origin,
}: {
  /** the one with the points */
  readonly dataset: string;
  /** the one whose rows became points; null while it is not known */
  readonly origin: string | undefined | null;
}) {
  const columnsPath = (id: string) =>
    entityPath('datasets', id, `/columns?limit=${COLUMN_COUNT_MAX}`);
  const columns = cached<string[]>(columnsPath(dataset));
  const { path, query } = place.value;
  const of = query.of ?? origin ?? dataset;
  const ofColumns = cached<string[]>(columnsPath(of)).value ?? [];
  const proposed = useProposedColour(origin);
  const [plane0, plane1] = planeOf(columns.value ?? []) ?? ['', ''];
  const choice: MapChoice = {
    x: query.x ?? plane0,
    y: query.y ?? plane1,
    of,
    colour: query.colour ?? (query.of === undefined ? (proposed ?? '') : ''),
  };
  const { rowCount, error } = useRowCount(dataset);
  const oneIn = samplingOf(rowCount ?? 0);
  const isReady =
    columns.value !== undefined &&
    rowCount !== undefined &&
    origin !== null &&
    proposed !== undefined;
  const sql = isReady && choice.x !== '' ? pointsSql(dataset, choice, oneIn) : undefined;
  if (error !== undefined) return <Failure error={error} />;
  if (columns.error !== undefined) return <Failure error={columns.error} />;
  if (isReady && sql === undefined) {
    return <p class="dim pad">A map needs two columns of numbers.</p>;
  }
  const set = (change: Partial<MapChoice>) => replacePlace(path, { ...query, ...change });
  const names = columns.value ?? [];
  return (
    <div class="map-pane">
      <div class="controls row">
        <Labelled label="x" value={choice.x} options={names} onChange={(x) => set({ x })} />
        <Labelled label="y" value={choice.y} options={names} onChange={(y) => set({ y })} />
        {origin !== undefined && origin !== null && origin !== dataset && (
          <Labelled
            label="Columns of"
            value={of}
            options={[...new Set([origin, dataset, of])]}
            onChange={(next) => set({ of: next, colour: '' })}
          />
        )}
        <Labelled
          label="Colour"
          value={choice.colour}
          options={[['', 'none'], ...ofColumns.map((name) => [name, name] as const)]}
          onChange={(colour) => set({ colour })}
        />
      </div>
      {sql === undefined ? (
        <Waiting />
      ) : (
        <Points
          sql={sql}
          dataset={dataset}
          choice={choice}
          origin={origin ?? undefined}
          oneIn={oneIn}
        />
      )}
    </div>
  );
}

function Labelled({
  label,
  ...choice
}: { readonly label: string } & Omit<Parameters<typeof Choice>[0], 'label' | 'id'>) {
  return (
    <label class="inline">
      <span>{label}</span>
      <Choice {...choice} />
    </label>
  );
}

function useRowCount(dataset: string): { rowCount?: number; error?: unknown } {
  const [found, setFound] = useState<{ rowCount?: number; error?: unknown }>({});
  useEffect(() => {
    const sql = `SELECT count(*) AS n FROM ${quoteName(dataset)}`;
    queryRows<{ n: number }>(sql, { isSilent: true }).then(
      ([row]) => setFound({ rowCount: row?.n ?? 0 }),
      (error: unknown) => setFound({ error }),
    );
  }, [dataset]);
  return found;
}

const PROFILED_COLUMNS = 40;
const PROFILED_ROWS = 2000;
const GROUPS_MAX = 10;

/** A column of few values says most by its colours. undefined: not known yet; '': there is none */
function useProposedColour(origin: string | undefined | null): string | undefined {
  const [proposed, setProposed] = useState<string>();
  useEffect(() => {
    if (origin === null) return;
    if (origin === undefined) {
      setProposed('');
      return;
    }
    proposedColour(origin).then(setProposed, () => setProposed(''));
  }, [origin]);
  return proposed;
}

async function proposedColour(dataset: string): Promise<string> {
  const columns = entityPath('datasets', dataset, `/columns?limit=${PROFILED_COLUMNS}`);
  const names = await call<string[]>('GET', columns, { isSilent: true });
  const query = { columns: JSON.stringify(names), rows: String(PROFILED_ROWS) };
  const path = entityPath('datasets', dataset, '/profile');
  const profile = await call<{ columns: { name: string; distinct: number }[] }>('GET', path, {
    query,
    isSilent: true,
  });
  const few = profile.columns.filter(({ distinct }) => distinct >= 2 && distinct <= GROUPS_MAX);
  const named = few.find(({ name }) => /label|class|cluster|target|species|kind|type/i.test(name));
  return (named ?? few[0])?.name ?? '';
}

function Points({
  sql,
  dataset,
  choice,
  origin,
  oneIn,
}: {
  readonly sql: string;
  readonly dataset: string;
  readonly choice: MapChoice;
  readonly origin: string | undefined;
  readonly oneIn: number;
}) {
  const [loaded, setLoaded] = useState<{ result: Result; points: MapPoints; choice: MapChoice }>();
  const [error, setError] = useState<unknown>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    const result = new Result(sql);
    let isGone = false;
    setError(undefined);
    const load = async () => {
      await result.done;
      if (isGone) return;
      if (result.error.value !== undefined) throw result.error.value;
      const index = (name: string) => result.columns.value.findIndex((each) => each.name === name);
      const colour = index('colour');
      const points = await result.points(
        index('x'),
        index('y'),
        colour === -1 ? undefined : colour,
      );
      if (!isGone) setLoaded({ result, points, choice });
    };
    load().catch((thrown: unknown) => !isGone && setError(thrown));
    return () => {
      isGone = true;
      result.drop();
    };
  }, [sql, round]);
  if (error !== undefined) return <Failure error={error} retry={() => setRound(round + 1)} />;
  if (loaded === undefined) return <Waiting words="Points are loaded" />;
  return <LoadedMap {...loaded} dataset={dataset} origin={origin} oneIn={oneIn} />;
}

function LoadedMap({
  result,
  points,
  choice,
  dataset,
  origin,
  oneIn,
}: {
  readonly result: Result;
  readonly points: MapPoints;
  readonly choice: MapChoice;
  readonly dataset: string;
  readonly origin: string | undefined;
  readonly oneIn: number;
}) {
  const palette = usePalette();
  const [group, setGroup] = useState<number>();
  const [box, setBox] = useState<Box>();
  const columns = result.columns.value;
  useEffect(() => setGroup(undefined), [points]);
  useEffect(() => setBox(undefined), [choice.x, choice.y]);
  const describe = useCallback(
    async (row: number) => {
      const all = columns.map((_, index) => index);
      const [cells = []] = await result.cells({ rowFrom: row, rowTo: row + 1, columns: all });
      const text = (name: string) => cells[columns.findIndex((each) => each.name === name)];
      return [
        `row ${text('row') ?? ''}`,
        ...(choice.colour === '' ? [] : [`${choice.colour}: ${text('colour') ?? 'NULL'}`]),
        `${choice.x} ${short(text('x'))}, ${choice.y} ${short(text('y'))}`,
      ];
    },
    [result, columns, choice],
  );
  const chosen = useMemo(
    () => (box === undefined ? undefined : rowsIn(points, box)),
    [points, box],
  );
  if (points.x.length === 0) return <p class="dim pad">There are no rows.</p>;
  const count = points.x.length.toLocaleString('en');
  return (
    <>
      <div class="map-body">
        <MapCanvas
          points={points}
          label={`Map of ${count} rows of ${dataset} by ${choice.x} and ${choice.y}`}
          palette={palette}
          group={group}
          box={box}
          onBox={setBox}
          describe={describe}
        />
        <aside class="map-side" aria-label="Legend and selection">
          <p class="dim">
            {count} {points.x.length === 1 ? 'point' : 'points'}
            {oneIn > 1 && `, one in ${oneIn} rows`}
          </p>
          <Legend
            points={points}
            palette={palette}
            title={choice.colour}
            group={group}
            onGroup={setGroup}
            chosen={chosen}
          />
          {chosen !== undefined && box !== undefined && (
            <section class="panel" aria-label="Selection">
              <h2 aria-live="polite">
                {chosen.length.toLocaleString('en')} {chosen.length === 1 ? 'point' : 'points'}{' '}
                chosen
              </h2>
              <Button
                kind="primary"
                icon="sql"
                disabled={chosen.length === 0}
                onClick={() => {
                  const rows = origin === dataset ? undefined : origin;
                  go(['sql'], { q: rowsSql(dataset, choice, box, rows), run: '1' });
                }}
              >
                Show their rows
              </Button>
              <Button onClick={() => setBox(undefined)}>Choose nothing</Button>
            </section>
          )}
        </aside>
      </div>
      <details class="pad">
        <summary>As a table</summary>
        <div class="map-table">
          <ResultGrid result={result} label={`Points of ${quoteName(dataset)}`} />
        </div>
      </details>
    </>
  );
}

const GROUP_SIGNS = ['●', '■', '▲', '◆', '✚'];

function Legend({
  points: { colours },
  palette,
  title,
  group,
  onGroup,
  chosen,
}: {
  readonly points: MapPoints;
  readonly palette: Palette;
  readonly title: string;
  readonly group: number | undefined;
  readonly onGroup: (group: number | undefined) => void;
  readonly chosen: readonly number[] | undefined;
}) {
  if (colours.kind === 'none') return null;
  if (colours.kind === 'scale') {
    return (
      <section class="panel" aria-label="Legend">
        <h2>{title}</h2>
        <span
          class="map-scale"
          style={{ background: `linear-gradient(to right, ${palette.scale.join(', ')})` }}
        />
        <p class="row spread">
          <span>{short(colours.fromText)}</span>
          <span>{short(colours.toText)}</span>
        </p>
      </section>
    );
  }
  const { groups, codes, otherCount } = colours;
  const entries = [
    ...groups.map(({ value, rowCount }) => ({ name: value ?? 'NULL', rowCount })),
    ...(otherCount === 0 ? [] : [{ name: 'all others', rowCount: otherCount }]),
  ];
  const inSelection = new Array<number>(entries.length).fill(0);
  for (const row of chosen ?? []) {
    const code = codes[row] as number;
    inSelection[code] = (inSelection[code] ?? 0) + 1;
  }
  return (
    <section class="panel" aria-label="Legend">
      <h2>{title}</h2>
      <ul class="plain map-legend">
        {entries.map(({ name, rowCount }, index) => (
          <li key={name}>
            <button
              type="button"
              aria-pressed={group === index}
              title="Show only these"
              onClick={() => onGroup(group === index ? undefined : index)}
            >
              <span
                aria-hidden="true"
                style={{ color: index < groups.length ? palette.groups[index] : palette.dim }}
              >
                {GROUP_SIGNS[index % GROUP_SIGNS.length]}
              </span>
              <span class="name">{name}</span>
              <span class="dim">
                {chosen !== undefined && `${inSelection[index]?.toLocaleString('en')} of `}
                {rowCount.toLocaleString('en')}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function short(text: string | null | undefined): string {
  if (text === null || text === undefined) return 'NULL';
  const number = Number(text);
  return text.trim() === '' || Number.isNaN(number) ? text : String(Number(number.toPrecision(5)));
}

const GROUP_COLOURS = 10;

/** The colours of the page; they change with its theme. */
function usePalette(): Palette {
  const [palette, setPalette] = useState(readPalette);
  useEffect(() => {
    const read = () => setPalette(readPalette());
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const observer = new MutationObserver(read);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    scheme.addEventListener('change', read);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', read);
    };
  }, []);
  return palette;
}

function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  return {
    ground: colour('--ground'),
    dim: colour('--strong-line'),
    accent: colour('--accent'),
    groups: Array.from({ length: GROUP_COLOURS }, (_, index) => colour(`--group-${index}`)),
    scale: Array.from({ length: 5 }, (_, index) => colour(`--scale-${index}`)),
  };
}
