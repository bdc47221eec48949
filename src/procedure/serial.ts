import { Type } from 'typebox';
import { entityReference } from '../schema/declare.ts';
import { withDetails } from '../util/error.ts';
import { runOnCreation } from './parameter.ts';
import { serviceProcedure } from './procedure-type.ts';

/** Runs procedures in order. */
export const serialProcedure = serviceProcedure({
  name: 'serial',
  summary: 'Runs procedures one after the other and stops at the first failure.',
  flags: ['INTERNAL_ENTITY'],
  parameters: Type.Object({
    steps: Type.Array(
      entityReference(
        'procedure',
        { description: 'a procedure: an existing one by id, or a configuration' },
        { name: Type.Optional(Type.String({ description: 'name of the step in messages' })) },
      ),
      {
        description:
          'procedures in order; what each made is registered when that step ends, and stays when a later step fails',
        default: [],
      },
    ),
    ...runOnCreation,
  }),
  passesOverrides: true,
  async run(context, params) {
    const steps = params.steps;
    const progress = context.steps(
      steps.map((_, index) => ({ name: `step ${index}`, type: 'done' as const })),
    );
    const results: unknown[] = [];
    const details: unknown[] = [];
    for (const [index, step] of steps.entries()) {
      progress.next();
      try {
        const outcome = await context.runProcedure(
          step.id ?? '',
          context.overrides,
          progress.subProgress,
        );
        results.push(outcome.result ?? null);
        details.push(outcome.details ?? null);
      } catch (thrown) {
        throw withDetails(thrown, { step: step.name ?? `step ${index}` });
      }
      progress.finish();
    }
    return { result: { steps: results }, details: { steps: details } };
  },
});
