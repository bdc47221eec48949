// Scans of tables in other systems are told what the filter above them wants, so that fewer rows travel.
import { cannotFail, conjunctsOf } from '../conjunction.ts';
import { mapPlan } from '../map-plan.ts';
import type { Rule } from './rule.ts';

export const prefilterRemoteRows: Rule = {
  name: 'prefilter-remote-rows',
  apply: (root, { namespace }) =>
    mapPlan(root, (node) => {
      if (node.kind !== 'filter' || node.input.kind !== 'scan') return node;
      const { input } = node;
      if (input.lookup !== undefined) return node;
      const { remote } = namespace.dataset(input.dataset);
      if (remote === undefined || remote.pushing !== undefined) return node;
      const prefilter = conjunctsOf(node.condition);
      // A part that fails for a row fails the query, also for a row that another part leaves out.
      if (!prefilter.every(cannotFail)) return node;
      return { ...node, input: { ...input, prefilter } };
    }),
};
