// Draws the cells that are seen, and nothing else: a few hundred nodes for any number of rows and
// columns. One tab stop; the active cell is told to screen readers by aria-activedescendant.
import type { CellText, Range, ResultColumn } from '../../worker/protocol.ts';
import { CellCache } from './cell-cache.ts';
import {
  alignPoint,
  ColumnLayout,
  decimalCount,
  firstRowAt,
  fittingWidth,
  HEAD_HEIGHT,
  ROW_HEIGHT,
  scrollHeight,
  scrollTopOf,
} from './layout.ts';

export interface GridContent {
  readonly columns: readonly ResultColumn[];
  readonly rowCount: number;
  readonly hidden: ReadonlySet<number>;
  readonly pinned: ReadonlySet<number>;
  readonly sort: { readonly name: string; readonly isDescending: boolean } | undefined;
}

export interface GridActions {
  read(range: Range): Promise<CellText[][]>;
  /** row -1: the head of the column */
  onOpen(row: number, column: number, place: DOMRect): void;
  onSelect(selection: GridSelection): void;
  onCopy(): void;
  onVisible(columns: readonly number[]): void;
}

/** Rows and positions of columns, both ends included. */
export interface GridSelection {
  readonly row: number;
  readonly position: number;
  readonly toRow: number;
  readonly toPosition: number;
}

const SAMPLE_ROWS = 40;
const DECIMALS_MAX = 8;
let gridCount = 0;

export class GridView {
  readonly element: HTMLElement;
  readonly #space = document.createElement('div');
  readonly #layer = document.createElement('div');
  readonly #head = document.createElement('div');
  readonly #rows: HTMLElement[] = [];
  readonly #actions: GridActions;
  readonly #cache: CellCache;
  readonly #resizeObserver: ResizeObserver;
  readonly #prefix = `grid${++gridCount}`;
  #content: GridContent = {
    columns: [],
    rowCount: 0,
    hidden: new Set(),
    pinned: new Set(),
    sort: undefined,
  };
  #widths: number[] = [];
  #decimals: number[] = [];
  #layout: ColumnLayout;
  #selection: GridSelection = { row: 0, position: 0, toRow: 0, toPosition: 0 };
  #frame = 0;
  #visibleKey = '';
  #isMeasured = false;
  #isDragging = false;

  constructor(element: HTMLElement, label: string, actions: GridActions) {
    this.element = element;
    this.#actions = actions;
    this.#cache = new CellCache(actions.read, () => this.draw());
    this.#layout = this.#makeLayout();
    element.setAttribute('role', 'grid');
    element.setAttribute('aria-label', label);
    element.setAttribute('aria-multiselectable', 'true');
    element.setAttribute('aria-readonly', 'true');
    element.tabIndex = 0;
    this.#space.className = 'grid-space';
    this.#space.setAttribute('role', 'presentation');
    this.#layer.className = 'grid-layer';
    this.#layer.setAttribute('role', 'presentation');
    this.#head.className = 'grid-row grid-head';
    this.#head.setAttribute('role', 'row');
    this.#head.setAttribute('aria-rowindex', '1');
    this.#layer.append(this.#head);
    this.#space.append(this.#layer);
    element.replaceChildren(this.#space);
    element.addEventListener('scroll', () => this.draw(), { passive: true });
    element.addEventListener('keydown', (event) => this.#onKey(event));
    element.addEventListener('pointerdown', (event) => this.#onPointerDown(event));
    element.addEventListener('pointermove', (event) => this.#onPointerMove(event));
    element.addEventListener('dblclick', (event) => this.#onDoubleClick(event));
    element.addEventListener('contextmenu', (event) => this.#onContextMenu(event));
    element.addEventListener('copy', (event) => {
      event.preventDefault();
      actions.onCopy();
    });
    this.#resizeObserver = new ResizeObserver(() => this.draw());
    this.#resizeObserver.observe(element);
  }

  destroy(): void {
    this.#resizeObserver.disconnect();
    cancelAnimationFrame(this.#frame);
  }

  get selection(): GridSelection {
    return this.#selection;
  }

  /** The columns of the selection, by their number in the result. */
  selectedRange(): Range {
    const { row, toRow, position, toPosition } = this.#selection;
    const [left, right] = [Math.min(position, toPosition), Math.max(position, toPosition)];
    return {
      rowFrom: Math.max(0, Math.min(row, toRow)),
      rowTo: Math.max(row, toRow) + 1,
      columns: this.#layout.order.slice(left, right + 1),
    };
  }

  show(content: GridContent): void {
    const isOther = content.columns !== this.#content.columns;
    this.#content = content;
    if (isOther) {
      this.#widths = content.columns.map(({ name }) => fittingWidth(name, []));
      this.#decimals = content.columns.map(() => 0);
      this.#isMeasured = false;
    }
    this.#cache.resize(content.rowCount, content.columns.length);
    this.#relayout();
  }

  widen(column: number, by: number): void {
    this.#widths[column] = Math.min(900, Math.max(40, (this.#widths[column] ?? 80) + by));
    this.#relayout();
  }

  /** Brings a column into view. */
  reveal(column: number): void {
    const position = this.#layout.order.indexOf(column);
    if (position >= 0) this.#moveTo(Math.max(0, this.#selection.row), position, false);
  }

  focus(): void {
    this.element.focus();
  }

  #makeLayout(): ColumnLayout {
    return new ColumnLayout(
      this.#content.columns,
      this.#widths,
      this.#content,
      this.#content.rowCount,
    );
  }

  #relayout(): void {
    this.#layout = this.#makeLayout();
    const { rowCount } = this.#content;
    this.#space.style.width = `${this.#layout.width}px`;
    this.#space.style.height = `${scrollHeight(rowCount)}px`;
    this.element.setAttribute('aria-rowcount', String(rowCount + 1));
    this.element.setAttribute('aria-colcount', String(this.#layout.order.length));
    this.draw();
  }

  draw(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#drawNow();
    });
  }

  #drawNow(): void {
    const { element } = this;
    const { rowCount } = this.#content;
    const { scrollTop, scrollLeft, clientWidth, clientHeight } = element;
    this.#layer.style.width = `${clientWidth}px`;
    this.#layer.style.height = `${clientHeight}px`;
    const positions = this.#layout.visible(scrollLeft, clientWidth);
    const first = firstRowAt(scrollTop, rowCount, clientHeight);
    const from = Math.floor(first);
    const shownCount = Math.ceil((clientHeight - HEAD_HEIGHT) / ROW_HEIGHT) + 1;
    const to = Math.min(rowCount, from + shownCount);
    this.#measure(positions);
    this.#drawHead(positions, scrollLeft);
    while (this.#rows.length < to - from) this.#rows.push(this.#makeRow());
    this.#rows.forEach((row, index) => {
      const number = from + index;
      row.hidden = number >= to;
      if (number < to) {
        const top = HEAD_HEIGHT + Math.round((number - first) * ROW_HEIGHT);
        this.#drawRow(row, number, positions, { top, scrollLeft });
      }
    });
    this.#tellVisible(positions);
    this.#markActive();
  }

  /** Widths follow the first rows, once. */
  #measure(positions: readonly number[]): void {
    if (this.#isMeasured || this.#content.rowCount === 0) return;
    const columns = positions.map((position) => this.#layout.order[position] as number);
    const rowCount = Math.min(SAMPLE_ROWS, this.#content.rowCount);
    const cells = columns.map((column) =>
      Array.from({ length: rowCount }, (_, row) => this.#cache.get(row, column)),
    );
    if (cells.some((column) => column.includes(undefined))) return;
    this.#isMeasured = true;
    columns.forEach((column, index) => {
      const { name } = this.#content.columns[column] as ResultColumn;
      this.#widths[column] = fittingWidth(name, cells[index] as CellText[]);
    });
    this.#layout = this.#makeLayout();
    this.#space.style.width = `${this.#layout.width}px`;
    this.draw();
  }

  #makeRow(): HTMLElement {
    const row = document.createElement('div');
    row.className = 'grid-row';
    row.setAttribute('role', 'row');
    this.#layer.append(row);
    return row;
  }

  #drawHead(positions: readonly number[], scrollLeft: number): void {
    const { columns, sort } = this.#content;
    const cells = cellsOf(this.#head, positions.length + 1);
    setCell(cells[0] as HTMLElement, '', 'grid-cell grid-number', 0, this.#layout.gutter);
    (cells[0] as HTMLElement).setAttribute('role', 'presentation');
    positions.forEach((position, index) => {
      const column = this.#layout.order[position] as number;
      const { name, kind } = columns[column] as ResultColumn;
      const cell = cells[index + 1] as HTMLElement;
      const isSorted = sort?.name === name;
      const mark = isSorted ? (sort.isDescending ? ' ↓' : ' ↑') : '';
      const classes = `grid-cell${isNumber(kind) ? ' number' : ''}${this.#edge(position)}`;
      this.#place(cell, name + mark, classes, position, scrollLeft);
      cell.id = `${this.#prefix}-h-${position}`;
      cell.setAttribute('role', 'columnheader');
      cell.setAttribute('aria-colindex', String(position + 1));
      cell.setAttribute('aria-haspopup', 'menu');
      cell.title = `${name} (${kind})`;
      if (isSorted) cell.setAttribute('aria-sort', sort.isDescending ? 'descending' : 'ascending');
      else cell.removeAttribute('aria-sort');
      cell.dataset.position = String(position);
      cell.dataset.row = '-1';
    });
  }

  #drawRow(
    element: HTMLElement,
    row: number,
    positions: readonly number[],
    { top, scrollLeft }: { readonly top: number; readonly scrollLeft: number },
  ): void {
    element.style.transform = `translateY(${top}px)`;
    element.setAttribute('aria-rowindex', String(row + 2));
    const cells = cellsOf(element, positions.length + 1);
    const number = cells[0] as HTMLElement;
    setCell(number, String(row + 1), 'grid-cell grid-number', 0, this.#layout.gutter);
    number.setAttribute('role', 'rowheader');
    positions.forEach((position, index) => {
      const column = this.#layout.order[position] as number;
      const { kind } = this.#content.columns[column] as ResultColumn;
      const cell = cells[index + 1] as HTMLElement;
      const text = this.#cache.get(row, column);
      const isSelected = this.#isSelected(row, position);
      const classes = [
        'grid-cell',
        isNumber(kind) ? ' number' : '',
        text === undefined ? ' pending' : text === null ? ' null' : '',
        isSelected ? ' selected' : '',
        this.#edge(position),
      ].join('');
      this.#place(cell, this.#shownText(text, column, kind), classes, position, scrollLeft);
      cell.id = `${this.#prefix}-${row}-${position}`;
      cell.setAttribute('role', 'gridcell');
      cell.setAttribute('aria-colindex', String(position + 1));
      cell.setAttribute('aria-selected', String(isSelected));
      cell.dataset.position = String(position);
      cell.dataset.row = String(row);
    });
  }

  #shownText(text: CellText | undefined, column: number, kind: ResultColumn['kind']): string {
    if (text === undefined) return '';
    if (text === null) return 'NULL';
    if (kind !== 'number') return text;
    const decimals = Math.min(DECIMALS_MAX, decimalCount(text) ?? 0);
    if (decimals > (this.#decimals[column] as number)) {
      this.#decimals[column] = decimals;
      this.draw();
    }
    return alignPoint(text, this.#decimals[column] as number);
  }

  #edge(position: number): string {
    return position < this.#layout.pinnedCount ? ' pinned' : '';
  }

  #place(
    cell: HTMLElement,
    text: string,
    classes: string,
    position: number,
    scrollLeft: number,
  ): void {
    const { lefts, pinnedCount } = this.#layout;
    const left = lefts[position] as number;
    const width = (lefts[position + 1] as number) - left;
    setCell(cell, text, classes, position < pinnedCount ? left : left - scrollLeft, width);
  }

  #isSelected(row: number, position: number): boolean {
    const { row: from, toRow, position: left, toPosition } = this.#selection;
    return (
      row >= Math.min(from, toRow) &&
      row <= Math.max(from, toRow) &&
      position >= Math.min(left, toPosition) &&
      position <= Math.max(left, toPosition)
    );
  }

  #markActive(): void {
    const { toRow, toPosition } = this.#selection;
    const name = toRow < 0 ? `h-${toPosition}` : `${toRow}-${toPosition}`;
    const id = `${this.#prefix}-${name}`;
    this.#layer.querySelector('.active')?.classList.remove('active');
    const cell = this.#layer.querySelector(`#${id}`);
    if (cell === null || (cell.parentElement as HTMLElement).hidden) {
      this.element.removeAttribute('aria-activedescendant');
      return;
    }
    cell.classList.add('active');
    this.element.setAttribute('aria-activedescendant', id);
  }

  #tellVisible(positions: readonly number[]): void {
    const key = positions.join();
    if (key === this.#visibleKey) return;
    this.#visibleKey = key;
    this.#actions.onVisible(positions.map((position) => this.#layout.order[position] as number));
  }

  #onKey(event: KeyboardEvent): void {
    const { rowCount } = this.#content;
    const lastRow = rowCount - 1;
    const lastPosition = this.#layout.order.length - 1;
    const { toRow, toPosition } = this.#selection;
    const page = Math.max(
      1,
      Math.floor((this.element.clientHeight - HEAD_HEIGHT) / ROW_HEIGHT) - 1,
    );
    const isCommand = event.ctrlKey || event.metaKey;
    const moves: Readonly<Record<string, readonly [row: number, position: number]>> = {
      ArrowDown: [isCommand ? lastRow : toRow + 1, toPosition],
      ArrowUp: [isCommand ? 0 : toRow - 1, toPosition],
      ArrowRight: [toRow, isCommand ? lastPosition : toPosition + 1],
      ArrowLeft: [toRow, isCommand ? 0 : toPosition - 1],
      PageDown: [toRow + page, toPosition],
      PageUp: [Math.max(0, toRow - page), toPosition],
      Home: isCommand ? [0, 0] : [toRow, 0],
      End: isCommand ? [lastRow, lastPosition] : [toRow, lastPosition],
    };
    const move = moves[event.key];
    if (move !== undefined) {
      event.preventDefault();
      this.#moveTo(
        Math.min(lastRow, Math.max(-1, move[0])),
        Math.min(lastPosition, Math.max(0, move[1])),
        event.shiftKey,
      );
    } else if (event.key === 'Enter' || event.key === 'ContextMenu') {
      event.preventDefault();
      this.#open(toRow, toPosition);
    } else if (isCommand && event.key === 'a') {
      event.preventDefault();
      this.#select({ row: 0, position: 0, toRow: lastRow, toPosition: lastPosition });
    } else if (isCommand && event.key === 'c') {
      event.preventDefault();
      this.#actions.onCopy();
    }
  }

  #moveTo(row: number, position: number, isExtending: boolean): void {
    const { row: fromRow, position: fromPosition } = this.#selection;
    this.#select(
      isExtending
        ? { row: fromRow, position: fromPosition, toRow: row, toPosition: position }
        : { row, position, toRow: row, toPosition: position },
    );
    this.#scrollTo(row, position);
  }

  #select(selection: GridSelection): void {
    this.#selection = selection;
    this.#actions.onSelect(selection);
    this.draw();
  }

  #scrollTo(row: number, position: number): void {
    const { element } = this;
    const { rowCount } = this.#content;
    const height = element.clientHeight;
    const visibleRows = (height - HEAD_HEIGHT) / ROW_HEIGHT;
    const first = firstRowAt(element.scrollTop, rowCount, height);
    if (row >= 0 && row < first) element.scrollTop = scrollTopOf(row, rowCount, height);
    else if (row >= first + visibleRows - 1) {
      element.scrollTop = scrollTopOf(row + 1 - visibleRows, rowCount, height);
    }
    if (position < this.#layout.pinnedCount) return;
    const left = this.#layout.lefts[position] as number;
    const right = this.#layout.lefts[position + 1] as number;
    if (left - element.scrollLeft < this.#layout.pinnedEnd) {
      element.scrollLeft = left - this.#layout.pinnedEnd;
    } else if (right > element.scrollLeft + element.clientWidth) {
      element.scrollLeft = right - element.clientWidth;
    }
  }

  #open(row: number, position: number): void {
    const column = this.#layout.order[position];
    if (column === undefined) return;
    const id = row < 0 ? `h-${position}` : `${row}-${position}`;
    const cell = this.#layer.querySelector(`#${this.#prefix}-${id}`) ?? this.element;
    this.#actions.onOpen(row, column, cell.getBoundingClientRect());
  }

  #cellAt(event: Event): { row: number; position: number } | undefined {
    const cell = (event.target as Element).closest<HTMLElement>('[data-row]');
    if (cell === null || cell.dataset.row === undefined) return undefined;
    return { row: Number(cell.dataset.row), position: Number(cell.dataset.position) };
  }

  #onPointerDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    const found = this.#cellAt(event);
    if (found === undefined) return;
    this.#isDragging = event.pointerType === 'mouse' && found.row >= 0;
    const { row, position } = this.#selection;
    this.#select(
      event.shiftKey
        ? { row, position, toRow: found.row, toPosition: found.position }
        : { ...found, toRow: found.row, toPosition: found.position },
    );
    if (found.row < 0) this.#open(-1, found.position);
  }

  #onPointerMove(event: PointerEvent): void {
    if (!this.#isDragging || event.buttons !== 1) return;
    const found = this.#cellAt(event);
    if (found === undefined || found.row < 0) return;
    const { row, position } = this.#selection;
    this.#select({ row, position, toRow: found.row, toPosition: found.position });
  }

  #onDoubleClick(event: Event): void {
    const found = this.#cellAt(event);
    if (found !== undefined && found.row >= 0) this.#open(found.row, found.position);
  }

  #onContextMenu(event: Event): void {
    const found = this.#cellAt(event);
    if (found === undefined) return;
    event.preventDefault();
    this.#open(found.row, found.position);
  }
}

function isNumber(kind: ResultColumn['kind']): boolean {
  return kind === 'integer' || kind === 'number';
}

/** The cells of a row, as many as are needed. */
function cellsOf(row: HTMLElement, count: number): HTMLElement[] {
  while (row.childElementCount < count) row.append(document.createElement('div'));
  while (row.childElementCount > count) row.lastElementChild?.remove();
  return [...row.children] as HTMLElement[];
}

function setCell(cell: HTMLElement, text: string, classes: string, left: number, width: number) {
  if (cell.textContent !== text) cell.textContent = text;
  if (cell.className !== classes) cell.className = classes;
  const { style } = cell;
  const leftText = `${left}px`;
  const widthText = `${width}px`;
  if (style.left !== leftText) style.left = leftText;
  if (style.width !== widthText) style.width = widthText;
}
