/** Kernels that read JSON text; parameters and results: assembly/json-number.ts. */
export interface JsonKernels {
  jsonNumberRows(
    start: number,
    end: number,
    isLines: boolean,
    isFinal: boolean,
    numbers: number,
    numberMax: number,
    ends: number,
    rowMax: number,
    report: number,
  ): number;
}
