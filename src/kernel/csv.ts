/**
 * Kernels that read delimited text; addresses are byte offsets into the memory. Parameters and
 * results are described in assembly/csv-index.ts, csv-number.ts and csv-code.ts.
 */
export interface CsvKernels {
  csvIndex(
    start: number,
    end: number,
    cells: number,
    delimiter: number,
    quote: number,
    report: number,
  ): number;
  csvRegular(cells: number, lineCount: number, columnCount: number, delimiter: number): number;
  csvFields(
    start: number,
    end: number,
    cells: number,
    columnCount: number,
    delimiter: number,
    quote: number,
    switches: number,
    used: number,
    refused: number,
    report: number,
  ): number;
  csvUtf8(start: number, end: number): number;
  csvIntegers(
    cell: number,
    stride: number,
    count: number,
    out: number,
    validity: number,
    row: number,
    state: number,
  ): number;
  csvDoubles(
    cell: number,
    stride: number,
    count: number,
    out: number,
    validity: number,
    row: number,
    state: number,
  ): number;
  csvNote(state: number, value: number): void;
  csvWiden(address: number, count: number): void;
  csvNumber(start: number, end: number, result: number): number;
  csvCodes(cell: number, stride: number, count: number, out: number, dictionary: number): number;
  csvRehash(dictionary: number): void;
  csvCells(heap: number, offsets: number, count: number, cells: number): void;
  csvRecode(
    source: number,
    sourceWidth: number,
    count: number,
    map: number,
    target: number,
    targetWidth: number,
  ): void;
  csvZeros(codes: number, count: number): number;
}

/** Words of the report that csvIndex and csvFields fill. */
export const CSV_REPORT = { lines: 0, flags: 1, refused: 1, next: 2 } as const;
/** csvIndex: some byte is not ASCII. */
export const CSV_FLAG_HIGH = 1;

export const CSV_SWITCH = {
  excelFormulas: 1,
  ignoreExtraColumns: 2,
  stopAtBadLine: 4,
  checkUtf8: 8,
  checkAscii: 16,
} as const;

/** What csvNumber says that a field is. */
export const CSV_NUMBER = { text: 0, integer: 1, double: 2, hard: 3 } as const;
