// Support vector machines as model files.
import { decodeArray, encodeArray } from '../model/base64.ts';
import {
  invalidMember,
  type JsonObject,
  makeContainer,
  openContainer,
  readChoice,
  readList,
  readNumber,
  readObject,
} from '../model/container.ts';
import { joined, readColumnNames, readRows } from '../model/points-model.ts';
import { SVM_KERNELS, type SvmKernel } from './kernel.ts';
import { type Decision, SVM_TYPES, type SvmModel } from './svm.ts';

const VERSION = 1;

export function svmToJson(
  { svmType, kernel, labels, decisions }: SvmModel,
  columnNames: readonly string[],
): JsonObject {
  return makeContainer('svm', VERSION, columnNames, {
    svmType,
    kernel,
    labels,
    decisions: decisions.map(({ vectors, coefficients, rho }) => ({
      rho,
      coefficients: encodeArray(coefficients),
      vectors: encodeArray(joined(vectors)),
    })),
  });
}

/** @throws DATA_ERROR when it is not what svmToJson writes */
export function svmFromJson(json: unknown): {
  readonly model: SvmModel;
  readonly columnNames: readonly string[];
} {
  const file = openContainer(json, 'svm', VERSION);
  const columnNames = readColumnNames(file);
  const labels = readList(file, 'labels').map((label) => readNumber(label, 'labels'));
  const decisions = readList(file, 'decisions').map((each) =>
    readDecision(readObject(each, 'decisions'), columnNames.length),
  );
  if (decisions.length !== Math.max(1, (labels.length * (labels.length - 1)) / 2)) {
    throw invalidMember('decisions', 'one for each pair of labels');
  }
  const svmType = readChoice(file.svmType, 'svmType', SVM_TYPES);
  return { model: { svmType, kernel: readKernel(file), labels, decisions }, columnNames };
}

function readKernel(file: JsonObject): SvmKernel {
  const kernel = readObject(file.kernel, 'kernel');
  return {
    kernel: readChoice(kernel.kernel, 'kernel', SVM_KERNELS),
    degree: readNumber(kernel.degree, 'degree'),
    gamma: readNumber(kernel.gamma, 'gamma'),
    coef0: readNumber(kernel.coef0, 'coef0'),
  };
}

function readDecision(json: JsonObject, width: number): Decision {
  const coefficients = decodeArray(json.coefficients, 'f64', 'coefficients');
  const vectors = coefficients.length === 0 ? [] : readRows(json, 'vectors', width);
  if (vectors.length !== coefficients.length) {
    throw invalidMember('vectors', 'one for each coefficient');
  }
  return { vectors, coefficients, rho: readNumber(json.rho, 'rho') };
}
