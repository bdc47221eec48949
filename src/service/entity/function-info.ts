// The types of a function's input and output as GET …/info shows them.
import { typeInfo } from '../../plan/type/type-info.ts';
import type { FunctionInterface } from '../engine/engine-task.ts';

export function functionInfo({ input, output }: FunctionInterface): Record<string, unknown> {
  return { input: input.map((type) => typeInfo(type)), output: typeInfo(output) };
}
