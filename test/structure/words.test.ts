// Refuses words that the glossary replaces. Folders join the list once their texts were revised.
import { expect, test } from 'vitest';
import { projectFiles, readProjectFile } from '../support/project.ts';

const REVISED =
  /^(src\/(schema|service\/(entity|persist|route|run)|client|replica|util|cli|file|rest|store|plugin|value|exec\/pool)\/.*\.ts|docs\/(?!glossary).*\.md|[A-Z]+\.md)$/;

const REFUSED: readonly [RegExp, string][] = [
  [/\bwhoever\b|\bsomebody\b/i, 'the caller, the client, the thread: the part that is meant'],
  [/\bdearer\b/i, 'slower, larger'],
  [/\blook(s|ed)? up from\b/i, 'check for cancellation'],
  [/\bcatalogs?\b/i, 'namespace: what queries can name; catalogue: what is kept'],
];

test('revised texts use the words of the glossary', () => {
  const found = projectFiles(REVISED).flatMap((path) =>
    readProjectFile(path)
      .split('\n')
      .flatMap((line, index) =>
        REFUSED.filter(([refused]) => refused.test(line)).map(
          ([refused, instead]) => `${path}:${index + 1}: ${refused.source}: write ${instead}`,
        ),
      ),
  );
  expect(found).toEqual([]);
});

test('the glossary lists each term once', () => {
  const terms = [...readProjectFile('docs/glossary.md').matchAll(/^\| ([a-z][a-z, ]*) \| /gm)]
    .flatMap((match) => (match[1] as string).split(', '))
    .filter((term) => !['term', 'instead of'].includes(term));
  expect(terms.filter((term, index) => terms.indexOf(term) !== index)).toEqual([]);
});
