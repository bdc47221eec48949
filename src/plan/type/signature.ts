// How a function is called, as the manual and editors write it.
import type { FunctionDeclaration } from '../function.ts';

/** For instance `substr(text, start, [length])`; what may come again is followed by dots. */
export function functionSignature({
  name,
  parameters,
}: Pick<FunctionDeclaration, 'name' | 'parameters'>): string {
  const names = parameters.map((parameter) => {
    if (parameter.variadic === true) return `${parameter.name}, …`;
    return parameter.optional === true ? `[${parameter.name}]` : parameter.name;
  });
  return `${name}(${names.join(', ')})`;
}
