import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';
import { runOnCreation } from './parameter.ts';
import { serviceProcedure } from './procedure-type.ts';

/** Pretends to work in two equal steps. */
export const mock = serviceProcedure({
  name: 'mock',
  summary: 'Pretends to work for a while, with progress; for tests of clients.',
  flags: ['INTERNAL_ENTITY'],
  parameters: Type.Object({
    durationMs: Type.Integer({
      description: 'how long a run lasts, in milliseconds',
      default: 5000,
      minimum: 1,
    }),
    refreshRateMs: Type.Integer({
      description: 'time between two reports of progress, in milliseconds',
      default: 50,
      minimum: 1,
    }),
    ...runOnCreation,
  }),
  async run(context, params) {
    const { durationMs, refreshRateMs } = params;
    const progress = context.steps([
      { name: 'step 1', type: 'counter' },
      { name: 'step 2', type: 'counter' },
    ]);
    for (let step = 0; step < 2; step++) {
      progress.next();
      const end = performance.now() + durationMs / 2;
      for (let reports = 1; ; reports++) {
        const left = end - performance.now();
        if (left <= 0) break;
        await sleep(Math.min(refreshRateMs, left), undefined, { signal: context.signal });
        progress.update(reports);
      }
      progress.finish();
    }
    return {};
  },
});
