// A chart of a result: what is shown is chosen here and computed by the service.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { queryRows } from '../../state/api.ts';
import type { Result } from '../../state/result.ts';
import { Button, Choice, Failure, Waiting } from '../basic.tsx';
import { Code } from '../code.tsx';
import { copyText, saveFile } from '../dialog.tsx';
import { Picture, pictureSvg, svgToPng } from './picture.tsx';
import type { ChartRow } from './plot.ts';
import {
  AGGREGATES,
  type ChartRange,
  type ChartSpec,
  chartSql,
  MARK_COUNT_MAX,
  MARKS,
  suggestChart,
} from './spec.ts';

interface Loaded {
  readonly spec: ChartSpec;
  readonly sql: string;
  readonly rows: readonly ChartRow[];
  readonly range: ChartRange | undefined;
}

export function ChartPane({
  result,
  given,
  onChange,
}: {
  readonly result: Result;
  readonly given: ChartSpec | undefined;
  readonly onChange: (spec: ChartSpec) => void;
}) {
  const columns = result.columns.value;
  const spec = useMemo(() => validSpec(given, columns) ?? suggestChart(columns), [given, columns]);
  const [loaded, setLoaded] = useState<Loaded>();
  const [error, setError] = useState<unknown>();
  const holder = useRef<HTMLDivElement>(null);

  useEffect(() => {
    if (columns.length === 0 || spec.x === '') return;
    const abort = new AbortController();
    const load = async () => {
      const at = columns.findIndex(({ name }) => name === spec.x);
      const range = spec.mark === 'histogram' ? (await result.profile(at)).histogram : undefined;
      const sql = chartSql(spec, result.sql, range);
      const rows = await queryRows<ChartRow>(sql, { signal: abort.signal });
      setLoaded({ spec, sql, rows, range });
      setError(undefined);
    };
    load().catch((thrown: unknown) => {
      if (!abort.signal.aborted) setError(thrown);
    });
    return () => abort.abort();
  }, [spec, result, columns]);

  const names = columns.map(({ name }) => name).filter((name) => name !== '_rowName');
  const optional = [['', 'none'], ...names.map((name) => [name, name])] as [string, string][];
  const set = (change: Partial<ChartSpec>) => onChange({ ...spec, ...change });
  const isAggregated = spec.mark !== 'dot' && spec.mark !== 'histogram';
  const save = async (kind: 'svg' | 'png') => {
    const svg = holder.current && pictureSvg(holder.current);
    if (!svg) return;
    if (kind === 'svg') saveFile('chart.svg', svg.outerHTML, 'image/svg+xml');
    else saveFile('chart.png', await svgToPng(svg), 'image/png');
  };
  return (
    <div class="chart-pane">
      <div class="controls row">
        <LabelledChoice
          label="Mark"
          value={spec.mark}
          options={MARKS}
          onChange={(mark) => set({ mark: mark as ChartSpec['mark'] })}
        />
        <LabelledChoice label="x" value={spec.x} options={names} onChange={(x) => set({ x })} />
        {spec.mark !== 'histogram' && (
          <LabelledChoice
            label="y"
            value={spec.y}
            options={isAggregated ? optional : names}
            onChange={(y) => set({ y })}
          />
        )}
        {isAggregated && (
          <LabelledChoice
            label="of y"
            value={spec.y === '' ? 'count' : spec.aggregate}
            options={spec.y === '' ? ['count'] : AGGREGATES}
            onChange={(aggregate) => set({ aggregate: aggregate as ChartSpec['aggregate'] })}
          />
        )}
        <LabelledChoice
          label="Colour"
          value={spec.colour}
          options={optional}
          onChange={(colour) => set({ colour })}
        />
        <LabelledChoice
          label="Facet"
          value={spec.facet}
          options={optional}
          onChange={(facet) => set({ facet })}
        />
        <span class="grow" />
        <Button kind="bare" icon="down" onClick={() => void save('svg')}>
          SVG
        </Button>
        <Button kind="bare" icon="down" onClick={() => void save('png')}>
          PNG
        </Button>
      </div>
      {error !== undefined && <Failure error={error} />}
      {loaded === undefined && error === undefined && <Waiting />}
      {loaded !== undefined && error === undefined && (
        <div ref={holder}>
          <Picture
            label={`${loaded.spec.mark} chart of ${loaded.spec.y || 'rows'} by ${loaded.spec.x}`}
            height={380}
            inputs={[loaded]}
            draw={(drawing, size) =>
              drawing.drawChart(loaded.spec, loaded.rows, loaded.range, size)
            }
          />
          {loaded.rows.length >= MARK_COUNT_MAX && (
            <p class="note">The first {MARK_COUNT_MAX.toLocaleString('en')} marks are shown.</p>
          )}
          <details>
            <summary>Query and numbers</summary>
            <Code text={loaded.sql} language="sql" />
            <Button icon="copy" onClick={() => copyText(loaded.sql, 'SQL')}>
              Copy SQL
            </Button>
            <ChartTable rows={loaded.rows} />
          </details>
        </div>
      )}
    </div>
  );
}

const TABLE_ROWS_MAX = 200;

function ChartTable({ rows }: { readonly rows: readonly ChartRow[] }) {
  const names = Object.keys(rows[0] ?? {}) as (keyof ChartRow)[];
  return (
    <div class="scroll">
      <table class="facts">
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, TABLE_ROWS_MAX).map((row, index) => (
            <tr key={index}>
              {names.map((name) => (
                <td key={name}>{cellWords(row[name])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function cellWords(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  const { ts } = value as { ts?: string };
  return ts ?? (typeof value === 'object' ? JSON.stringify(value) : String(value));
}

function LabelledChoice({
  label,
  ...choice
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (string | readonly [string, string])[];
  readonly onChange: (value: string) => void;
}) {
  return (
    <label class="inline">
      <span>{label}</span>
      <Choice {...choice} />
    </label>
  );
}

/** A spec of a link names columns that may be gone. */
function validSpec(
  given: ChartSpec | undefined,
  columns: Result['columns']['value'],
): ChartSpec | undefined {
  if (given === undefined) return undefined;
  const names = new Set(columns.map(({ name }) => name));
  const isThere = [given.x, given.y, given.colour, given.facet].every(
    (name) => name === '' || names.has(name),
  );
  return isThere && given.x !== '' && MARKS.includes(given.mark) ? given : undefined;
}
