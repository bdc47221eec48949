// Running ONNX models.
import { failure } from '../../util/error.ts';
import type { OnnxModel, Tensor } from './model.ts';
import { makeOperator } from './operator.ts';

export type OnnxRun = (inputs: ReadonlyMap<string, Tensor>) => ReadonlyMap<string, Tensor>;

/**
 * @returns what computes all tensors from the inputs
 * @throws DATA_ERROR naming an operator that is not supported, or a tensor that nothing makes
 */
export function compileOnnx({ constants, inputs, nodes, opset, outputs }: OnnxModel): OnnxRun {
  const known = new Set([...constants.keys(), ...inputs.map(({ name }) => name), '']);
  const steps = nodes.map((node) => {
    const operator = makeOperator(node, opset);
    const missing = node.inputs.find((name) => !known.has(name));
    if (missing !== undefined) {
      throw failure('DATA_ERROR', `operator ${node.op} reads '${missing}', which nothing makes`);
    }
    for (const name of node.outputs) known.add(name);
    return { node, operator };
  });
  const lost = outputs.find(({ name }) => !known.has(name));
  if (lost !== undefined) throw failure('DATA_ERROR', `nothing makes the output '${lost.name}'`);
  return (given) => {
    const tensors = new Map([...constants, ...given]);
    for (const { node, operator } of steps) {
      const made = operator(node.inputs.map((name) => tensors.get(name) as Tensor));
      for (const [index, name] of node.outputs.entries()) {
        const tensor = made[index];
        if (tensor !== undefined) tensors.set(name, tensor);
      }
    }
    return tensors;
  };
}
