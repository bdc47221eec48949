// Reads JSON arrays of numbers from bytes without making any array: what a batch of rows or a
// stream of lines often is.
import { instantiateKernels, type Kernels } from '../../kernel/kernels.ts';
import { parseJson } from '../../util/exact-json.ts';

const PAGE_SIZE = 65_536;
/** Text that is looked at together. */
const WINDOW_SIZE = 64 * 1024;
/** An array of more text is read elsewhere. */
const WINDOW_SIZE_MAX = 1024 * 1024;
/** What the kernel may look at behind the text. */
const WINDOW_TAIL_SIZE = 8;
const NUMBER_COUNT_MAX = 1 << 16;
const ROW_COUNT_MAX = 1 << 13;
const REPORT_SIZE = 8;

/** The first page is the kernels' own. */
const REPORT = PAGE_SIZE;
const ENDS = REPORT + REPORT_SIZE;
const NUMBERS = ENDS + 4 * ROW_COUNT_MAX;
const WINDOW = NUMBERS + 8 * NUMBER_COUNT_MAX;
const PAGE_COUNT = Math.ceil((WINDOW + WINDOW_SIZE_MAX + WINDOW_TAIL_SIZE) / PAGE_SIZE);

const OPEN = 0x5b;
const CLOSE = 0x5d;

/** Its memory, of two megabytes, is its own. */
export class NumberRowReader {
  /** of arrays one after the other; array `i` ends before `ends[i]` */
  readonly numbers: Float64Array;
  readonly ends: Int32Array;
  readonly #window: Uint8Array;
  readonly #report: Uint32Array;
  readonly #kernels: Pick<Kernels, 'jsonNumberRows'>;
  #rowCount = 0;
  #position = 0;

  constructor() {
    const memory = new WebAssembly.Memory({
      ...{ initial: PAGE_COUNT, maximum: PAGE_COUNT, shared: true },
    });
    const { buffer } = memory;
    this.#kernels = instantiateKernels(memory);
    this.#report = new Uint32Array(buffer, REPORT, REPORT_SIZE / 4);
    this.ends = new Int32Array(buffer, ENDS, ROW_COUNT_MAX);
    this.numbers = new Float64Array(buffer, NUMBERS, NUMBER_COUNT_MAX);
    this.#window = new Uint8Array(buffer, WINDOW, WINDOW_SIZE_MAX + WINDOW_TAIL_SIZE);
  }

  /** arrays that were read */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** the first byte that was not read */
  get position(): number {
    return this.#position;
  }

  /**
   * Reads some arrays, separated by commas or, when `isLines`, by line feeds. None means that what
   * stands there is not certainly an array of finite numbers, or that the bytes are at their end.
   */
  read(bytes: Uint8Array, start: number, isLines: boolean, rowCountMax = ROW_COUNT_MAX): void {
    this.#readWindow(bytes, start, WINDOW_SIZE, isLines, rowCountMax);
    if (this.#rowCount > 0) return;
    if (this.#report[1] === 1) this.#readHard(bytes, start, isLines);
    else if (bytes.length - start > WINDOW_SIZE) {
      this.#readWindow(bytes, start, WINDOW_SIZE_MAX, isLines, rowCountMax);
    }
  }

  #readWindow(
    bytes: Uint8Array,
    start: number,
    sizeMax: number,
    isLines: boolean,
    rowCountMax: number,
  ): void {
    const end = Math.min(start + sizeMax, bytes.length);
    const size = end - start;
    const isFinal = end === bytes.length;
    this.#window.set(bytes.subarray(start, end));
    this.#window[size] = 0;
    this.#run(size, isLines, isFinal, Math.min(rowCountMax, ROW_COUNT_MAX));
    this.#position += start;
  }

  /** Reads from the window; the position is then one of the window. */
  #run(size: number, isLines: boolean, isFinal: boolean, rowCountMax: number): void {
    this.#rowCount = this.#kernels.jsonNumberRows(
      WINDOW,
      WINDOW + size,
      isLines,
      isFinal,
      NUMBERS,
      NUMBER_COUNT_MAX,
      ENDS,
      rowCountMax,
      REPORT,
    );
    this.#position = (this.#report[0] as number) - WINDOW;
  }

  /** Reads one array with a number that the kernel leaves to us. */
  #readHard(bytes: Uint8Array, start: number, isLines: boolean): void {
    const close = bytes.indexOf(CLOSE, start);
    const numbers = close === -1 ? undefined : numbersOf(bytes, start, close + 1, isLines);
    if (numbers === undefined) return;
    // What may stand behind it is what may stand behind an empty array.
    const end = Math.min(close + WINDOW_SIZE, bytes.length);
    this.#window[0] = OPEN;
    this.#window.set(bytes.subarray(close, end), 1);
    const size = 1 + end - close;
    this.#window[size] = 0;
    this.#run(size, isLines, end === bytes.length, 1);
    this.#position += close - 1;
    if (this.#rowCount === 0) {
      this.#position = start;
      return;
    }
    this.numbers.set(numbers);
    this.ends[0] = numbers.length;
  }
}

let readerOfThread: NumberRowReader | undefined;

/** One for everybody who is done with the rows before anybody else can read. */
export function numberRowReader(): NumberRowReader {
  readerOfThread ??= new NumberRowReader();
  return readerOfThread;
}

/** The numbers of one array; undefined when it has others than finite doubles. */
function numbersOf(
  bytes: Uint8Array,
  start: number,
  end: number,
  isLine: boolean,
): Float64Array | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
  if (isLine && text.includes('\n')) return undefined;
  let values: unknown;
  try {
    values = parseJson(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(values) || values.length > NUMBER_COUNT_MAX) return undefined;
  if (!values.every(Number.isFinite)) return undefined;
  // The negative zero is no value.
  return Float64Array.from(values as number[], (value) => value + 0);
}
