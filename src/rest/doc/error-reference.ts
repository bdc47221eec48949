// The page of errors, from their catalogue.
import { ERRORS, type ErrorEntry } from '../../util/error-catalogue.ts';

/** The reference of error codes as Markdown, in the order of the catalogue. */
export function errorReference(): string {
  const entries = Object.entries(ERRORS as Readonly<Record<string, ErrorEntry>>);
  return `# Errors

A failed request is answered with \`{"error", "httpCode", "code", "details", "requestId"}\`. \`error\` is for people and says what was wrong, where,
and what is accepted; \`code\` is stable, for programs; \`details\` holds what the message names; \`requestId\` names the request in the log.
A failure keeps the status of its code unless the situation has one of its own.

${entries.map(section).join('\n')}`;
}

function section([code, { status, when, template, example, mend }]: [string, ErrorEntry]): string {
  return `## ${code}

Status ${status}: ${when}.

- Form: \`${template}\`
- Example: \`${example}\`
- What to do: ${mend}
`;
}
