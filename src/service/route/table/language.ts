// The words and functions of the SQL language, for editors.
import { BUILTIN_FUNCTIONS } from '../../../builtin/index.ts';
import type { FunctionDeclaration } from '../../../plan/function.ts';
import { functionSignature } from '../../../plan/type/signature.ts';
import { KEYWORDS } from '../../../sql/keyword.ts';
import { jsonReply } from '../request.ts';
import { type Route, route } from '../route.ts';

/** Names of types that CAST takes and that columns have. */
const TYPES = ['string', 'integer', 'number', 'boolean', 'timestamp', 'interval', 'blob', 'path'];

let language: unknown;

export const LANGUAGE_ROUTES: readonly Route[] = [
  route({
    verb: 'GET',
    path: '/v1/sql',
    summary: 'The words, functions and types of the SQL language',
    role: 'reader',
    reply: { description: 'keywords, functions with signature, summary and examples, and types' },
    examples: [{ path: '/v1/sql' }],
    handle() {
      language ??= {
        keywords: [...KEYWORDS].sort(),
        functions: BUILTIN_FUNCTIONS.map(describeFunction),
        types: TYPES,
      };
      return jsonReply(language);
    },
  }),
];

function describeFunction(declaration: FunctionDeclaration): Record<string, unknown> {
  const { name, aliases, family, summary, parameters, examples, kind } = declaration;
  return {
    name,
    ...(aliases === undefined ? {} : { aliases }),
    kind: kind === 'value' ? 'scalar' : kind,
    family,
    signature: functionSignature(declaration),
    summary,
    parameters,
    examples,
  };
}
