// The progress document of a run: its steps with their values and times.
import type { Progress, StepDeclaration } from '../../procedure/procedure-type.ts';
import { printTimestamp } from '../../value/timestamp.ts';
import { nowSeconds } from '../id.ts';

interface Step extends StepDeclaration {
  value: number;
  started?: string;
  ended?: string;
}

/** Where the documents go; the latest counts. */
export type ReportProgress = (document: Record<string, unknown>) => void;

export class StepProgress implements Progress {
  readonly #steps: Step[];
  readonly #report: ReportProgress;
  readonly #topLevel: boolean;
  #current = -1;
  #subProgress: unknown;

  /** @param topLevel the document also has the members of the current step */
  constructor(steps: readonly StepDeclaration[], topLevel: boolean, report: ReportProgress) {
    this.#steps = steps.map(({ name, type }) => ({ name, type, value: 0 }));
    this.#topLevel = topLevel;
    this.#report = report;
  }

  next(): void {
    this.#end();
    this.#current++;
    const step = this.#steps[this.#current];
    if (step === undefined) return;
    step.started = printTimestamp(nowSeconds());
    this.#send();
  }

  update(value: number): void {
    const step = this.#steps[this.#current];
    if (step === undefined || value <= step.value) return;
    step.value = step.type === 'percentile' ? Math.min(value, 1) : value;
    this.#send();
  }

  finish(): void {
    this.#end();
    this.#send();
  }

  subProgress = (document: unknown): void => {
    this.#subProgress = document;
    this.#send();
  };

  #end(): void {
    const step = this.#steps[this.#current];
    if (step === undefined || step.ended !== undefined) return;
    if (step.type === 'percentile' || step.type === 'done') step.value = 1;
    step.ended = printTimestamp(nowSeconds());
    this.#subProgress = undefined;
  }

  #send(): void {
    if (this.#steps.length === 0) return;
    const step = this.#steps[Math.min(this.#current, this.#steps.length - 1)];
    this.#report({
      steps: this.#steps.map((member) => ({ ...member })),
      ...(this.#subProgress === undefined ? {} : { subProgress: this.#subProgress }),
      ...(this.#topLevel ? step : { percent: this.#percent() }),
    });
  }

  /** Steps count alike. */
  #percent(): number {
    const done = this.#steps.reduce((sum, step) => {
      if (step.ended !== undefined) return sum + 1;
      return sum + (step.type === 'percentile' ? step.value : 0);
    }, 0);
    return done / this.#steps.length;
  }
}
