// The grid of a result: cells, menus of columns and cells, copies, and a look into one cell.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { CallFailure } from '../../state/api.ts';
import { messageOf } from '../../state/api.ts';
import type { Result } from '../../state/result.ts';
import { isNumeric } from '../../state/result.ts';
import { COPY_FORMATS, type CopyFormat, type ResultColumn } from '../../worker/protocol.ts';
import { Button } from '../basic.tsx';
import { copyText, tell } from '../dialog.tsx';
import type { GridSelection } from '../grid/view.ts';
import { GridView } from '../grid/view.ts';
import { Menu, type MenuItem, type MenuPlace } from '../menu.tsx';
import { columnExpression, orderOf, quoteText, withFilter, withOrder } from '../sql/text.ts';
import { Inspector } from './inspector.tsx';

export interface ResultGridProps {
  readonly result: Result;
  readonly label: string;
  /** the statement in another order or with one more condition; without it the grid only shows */
  readonly onRewrite?: ((sql: string) => void) | undefined;
  readonly onVisible?: ((columns: readonly number[]) => void) | undefined;
  /** set by the grid: brings a column into view */
  readonly control?: { reveal?: (column: number) => void };
  /** the dataset whose rows these are, for the timestamps of cells */
  readonly dataset?: string | undefined;
}

interface Opened {
  readonly row: number;
  readonly column: number;
  readonly place: MenuPlace;
}

/** More cells than this are a file, not a copy. */
const COPY_CELLS_MAX = 2_000_000;

export function ResultGrid(props: ResultGridProps) {
  const { result, label, onRewrite, onVisible, control } = props;
  const element = useRef<HTMLDivElement>(null);
  const view = useRef<GridView>(undefined);
  const [opened, setOpened] = useState<Opened>();
  const [inspected, setInspected] = useState<{ row: number; column: number }>();
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const [pinned, setPinned] = useState<ReadonlySet<number>>(new Set());
  const [selection, setSelection] = useState<GridSelection>();
  const columns = result.columns.value;
  const rowCount = result.rowCount.value;
  const sort = useMemo(() => sortOf(result.sql, columns), [result.sql, columns]);

  const copy = async (format: CopyFormat) => {
    const range = view.current?.selectedRange();
    if (range === undefined) return;
    const cellCount = (range.rowTo - range.rowFrom) * range.columns.length;
    if (cellCount > COPY_CELLS_MAX) {
      tell('that is more than fits a copy; export the result instead');
      return;
    }
    try {
      await copyText(
        await result.copy(range, format),
        cellCount === 1 ? 'Cell' : `${cellCount} cells`,
      );
    } catch (thrown) {
      tell(messageOf(thrown as CallFailure));
    }
  };
  const latest = useRef({ copy, onVisible });
  latest.current = { copy, onVisible };

  useEffect(() => {
    const grid = new GridView(element.current as HTMLElement, label, {
      read: (range) => result.cells(range),
      onOpen: (row, column, box) =>
        setOpened({ row, column, place: { left: box.left, top: box.bottom + 2 } }),
      onSelect: setSelection,
      onCopy: () => void latest.current.copy('TSV'),
      onVisible: (visible) => latest.current.onVisible?.(visible),
    });
    view.current = grid;
    if (control !== undefined) control.reveal = (column) => grid.reveal(column);
    return () => grid.destroy();
  }, [result]);
  useEffect(() => {
    view.current?.show({ columns, rowCount, hidden, pinned, sort });
  }, [result, columns, rowCount, hidden, pinned, sort]);

  const toggled = (set: ReadonlySet<number>, column: number) => {
    const next = new Set(set);
    if (!next.delete(column)) next.add(column);
    return next;
  };

  const headItems = (column: number): (MenuItem | 'line')[] => {
    const { name } = columns[column] as ResultColumn;
    const rewrite = (sql: string) => onRewrite?.(sql);
    const sorts: (MenuItem | 'line')[] =
      onRewrite === undefined
        ? []
        : [
            { text: 'Sort ascending', run: () => rewrite(withOrder(result.sql, name, 'ASC')) },
            { text: 'Sort descending', run: () => rewrite(withOrder(result.sql, name, 'DESC')) },
            ...(sort === undefined
              ? []
              : [
                  {
                    text: 'Do not sort',
                    run: () => rewrite(withOrder(result.sql, name, undefined)),
                  },
                ]),
            {
              text: 'Leave out NULL',
              run: () => rewrite(withFilter(result.sql, `${columnExpression(name)} IS NOT NULL`)),
            },
            'line',
          ];
    return [
      ...sorts,
      {
        text: pinned.has(column) ? 'Unpin' : 'Pin to the left',
        run: () => setPinned(toggled(pinned, column)),
      },
      { text: 'Hide', run: () => setHidden(toggled(hidden, column)) },
      { text: 'Wider', run: () => view.current?.widen(column, 60) },
      { text: 'Narrower', run: () => view.current?.widen(column, -40) },
      { text: 'Copy name', run: () => void copyText(columnExpression(name), 'Name') },
    ];
  };

  const cellItems = (row: number, column: number): (MenuItem | 'line')[] => {
    const { name, kind } = columns[column] as ResultColumn;
    const filter = async (negates: boolean) => {
      const { value } = await result.value(row, column);
      onRewrite?.(withFilter(result.sql, conditionOf(name, kind, value, negates)));
    };
    return [
      { text: 'Look into the cell', run: () => setInspected({ row, column }) },
      ...(onRewrite === undefined
        ? []
        : [
            { text: 'Only rows with this value', run: () => void filter(false) },
            { text: 'Only rows without it', run: () => void filter(true) },
          ]),
      'line',
      ...COPY_FORMATS.map((format) => ({
        text: `Copy as ${format}`,
        run: () => void copy(format),
        ...(format === 'TSV' ? { note: 'Ctrl C' } : {}),
      })),
    ];
  };

  return (
    <div class="result-grid">
      <div ref={element} class="grid" />
      {hidden.size > 0 && (
        <p class="note row">
          {hidden.size} hidden {hidden.size === 1 ? 'column' : 'columns'}
          <Button kind="bare" onClick={() => setHidden(new Set())}>
            Show all
          </Button>
        </p>
      )}
      <p class="unseen" aria-live="polite">
        {selectionText(selection)}
      </p>
      {opened !== undefined && (
        <Menu
          label={opened.row < 0 ? 'Column' : 'Cell'}
          place={opened.place}
          items={opened.row < 0 ? headItems(opened.column) : cellItems(opened.row, opened.column)}
          onClose={() => setOpened(undefined)}
        />
      )}
      {inspected !== undefined && (
        <Inspector
          result={result}
          row={inspected.row}
          column={inspected.column}
          dataset={props.dataset}
          onClose={() => setInspected(undefined)}
        />
      )}
    </div>
  );
}

function selectionText(selection: GridSelection | undefined): string {
  if (selection === undefined) return '';
  const rows = Math.abs(selection.toRow - selection.row) + 1;
  const columns = Math.abs(selection.toPosition - selection.position) + 1;
  return rows * columns === 1 ? '' : `${rows} rows and ${columns} columns are selected`;
}

/** The order of the statement, when it is that of a column that is shown. */
function sortOf(sql: string, columns: readonly ResultColumn[]) {
  const order = orderOf(sql);
  const column = columns.find(({ name }) => columnExpression(name) === order?.name);
  if (order === undefined || column === undefined) return undefined;
  return { name: column.name, isDescending: order.isDescending };
}

export function conditionOf(
  name: string,
  kind: ResultColumn['kind'],
  value: unknown,
  negates = false,
): string {
  const column = columnExpression(name);
  if (value === null || value === undefined) return `${column} IS ${negates ? 'NOT ' : ''}NULL`;
  const isNumber = isNumeric(kind) || typeof value === 'number';
  const literal = isNumber
    ? String(value)
    : kind === 'timestamp'
      ? `TIMESTAMP ${quoteText(String(value))}`
      : quoteText(String(value));
  return `${column} ${negates ? '!=' : '='} ${literal}`;
}
