// The page of errors, from their catalogue.
import { ERRORS, type ErrorEntry } from '../../util/error-catalogue.ts';
import { exampleOf } from '../../util/error-text.ts';

/** The reference of error codes as Markdown, in the order of the catalogue. */
export function errorReference(): string {
  const entries = Object.entries(ERRORS as Readonly<Record<string, ErrorEntry>>);
  return `# Errors

A failed request is answered with \`{"error", "httpCode", "code", "details", "requestId"}\`. \`error\` is for people and says what was wrong, where,
and what is accepted; \`code\` is stable, for programs; \`details\` holds what the message names; \`requestId\` names the request in the log.
A failure keeps the status of its code unless the situation has one of its own.
In the forms of messages, parts are in angle brackets; what is in square brackets is there when its part is known.

${entries.map(section).join('\n')}`;
}

function section([code, entry]: [string, ErrorEntry]): string {
  const { status, when, template, mend } = entry;
  const others = 'forms' in entry ? Object.values(entry.forms ?? {}) : [];
  return `## ${code}

Status ${status}: ${when}.

- Form: \`${template}\`
${others.map((other) => `- Or: \`${other}\`\n`).join('')}- Example: \`${exampleOf(entry)}\`
- What to do: ${mend}
`;
}
