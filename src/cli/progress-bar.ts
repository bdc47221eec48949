// A bar on a terminal; nothing where standard error goes to a file or a program.
import { Presets, SingleBar } from 'cli-progress';

interface ProgressDocument {
  readonly percent?: number;
  readonly steps?: readonly {
    readonly name: string;
    readonly type: string;
    readonly value: number;
    readonly started?: string;
    readonly ended?: string;
  }[];
}

/** Draws the progress of a run from its documents; `end` leaves it full. */
export class ProgressBar {
  #bar: SingleBar | undefined;

  show(progress: ProgressDocument | undefined): void {
    if (!process.stderr.isTTY || progress?.steps === undefined) return;
    this.#bar ??= this.#start();
    const { steps } = progress;
    const current = steps.findLast((step) => step.started !== undefined);
    const doneCount = steps.filter((step) => step.ended !== undefined).length;
    const within = current?.type === 'percentile' && !current.ended ? current.value : 0;
    const share = progress.percent ?? (doneCount + within) / Math.max(1, steps.length);
    const lines = current?.type === 'lines' ? ` ${current.value} lines` : '';
    this.#bar.update(Math.round(share * 100), { step: `${current?.name ?? ''}${lines}` });
  }

  end(): void {
    this.#bar?.update(100, { step: 'done' });
    this.#bar?.stop();
  }

  #start(): SingleBar {
    const bar = new SingleBar(
      { format: ' {bar} {percentage}% {step}', stream: process.stderr, hideCursor: true },
      Presets.shades_classic,
    );
    bar.start(100, 0, { step: '' });
    return bar;
  }
}
