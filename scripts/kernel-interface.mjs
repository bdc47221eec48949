// A transform of the AssemblyScript compiler: writes what TypeScript needs to know of the kernels,
// so that signatures, offsets and codes are written once, in src/kernel/assembly.
//
// An exported function of the entry becomes a member of `Kernels`. What is marked @shared becomes a
// constant: a `const` itself, an enum an object of its values, a class the byte offsets of its
// fields and its size.

import { ClassDeclaration, ElementKind, EnumDeclaration, VariableStatement } from 'assemblyscript';

const ASSEMBLY = 'src/kernel/assembly/';

/**
 * The transform.
 * @param write is called with the text of the TypeScript module, once all is compiled
 */
export function kernelInterface(write) {
  let program;
  return {
    afterInitialize(initialized) {
      program = initialized;
    },
    afterCompile() {
      const sources = program.sources.filter(({ normalizedPath }) =>
        normalizedPath.startsWith(ASSEMBLY),
      );
      const text = [
        '// Written by scripts/kernel-interface.mjs when the kernels are compiled; do not edit.',
        '',
        ...sources.flatMap((source) => sharedOf(program, source)),
        '/** The kernels. Addresses are byte offsets into the memory that they are bound to. */',
        'export interface Kernels {',
        ...exportedFunctions(program, `${ASSEMBLY}index`).map(signatureOf),
        '}',
        '',
      ];
      write(text.join('\n'));
    },
  };
}

/** Declarations of the functions that the entry exports, by file. */
function exportedFunctions(program, entry) {
  const file = program.filesByName.get(entry);
  const files = file.exportsStar ?? [];
  return files.flatMap((part) =>
    [...(part.exports?.values() ?? [])]
      .filter((element) => element.kind === ElementKind.FunctionPrototype)
      .map((element) => element.declaration),
  );
}

function signatureOf(declaration) {
  const { parameters, returnType } = declaration.signature;
  const list = parameters.map((it) => `${it.name.text}: ${typeOf(it.type, 'parameter')}`);
  const result = typeOf(returnType, 'result');
  return `${commentOf(declaration, '  ')}  ${declaration.name.text}(${list.join(', ')}): ${result};`;
}

function typeOf(node, place) {
  const name = node.range.toString();
  if (name === 'void') return name;
  if (name === 'i64' || name === 'u64') return 'bigint';
  if (name === 'bool' && place === 'parameter') return 'boolean';
  return 'number';
}

function sharedOf(program, source) {
  return source.statements.flatMap((statement) => {
    if (!isShared(statement)) return [];
    if (statement instanceof EnumDeclaration) return [enumText(statement)];
    if (statement instanceof ClassDeclaration) return [classText(program, statement)];
    if (statement instanceof VariableStatement) return [constantText(statement)];
    throw new Error(`${source.normalizedPath}: @shared is for constants, enums and classes`);
  });
}

function isShared(statement) {
  return statement.decorators?.some((it) => it.name.text === 'shared') === true;
}

function constantText(statement) {
  return statement.declarations
    .map((it) => {
      // Constants of both languages are expressions of numbers and of each other.
      const value = it.initializer.range.toString();
      return `${commentOf(statement, '')}export const ${it.name.text} = ${value};\n`;
    })
    .join('');
}

function enumText(declaration) {
  let next = 0;
  const members = declaration.values.map((it) => {
    if (it.initializer !== null) next = Number(it.initializer.range.toString());
    return `${commentOf(it, '  ')}  ${it.name.text}: ${next++},`;
  });
  return objectText(declaration, members);
}

function classText(program, declaration) {
  const prototype = program.elementsByDeclaration.get(declaration);
  const resolved = prototype.instances.get('');
  const members = declaration.members.map((it) => {
    const { memoryOffset } = resolved.members.get(it.name.text).instance;
    return `${commentOf(it, '  ')}  ${it.name.text}: ${memoryOffset},`;
  });
  const size = `export const ${constantName(declaration)}_SIZE = ${resolved.nextMemoryOffset};\n`;
  return `${objectText(declaration, members)}${size}`;
}

function objectText(declaration, members) {
  const head = `${commentOf(declaration, '')}export const ${constantName(declaration)} = {`;
  return `${[head, ...members, '} as const;'].join('\n')}\n`;
}

/** TreeTask: TREE_TASK */
function constantName(declaration) {
  return declaration.name.text.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase();
}

/** The documentation above a declaration, indented. */
function commentOf(declaration, indent) {
  const starts = [declaration, ...(declaration.decorators ?? [])].map((it) => it.range.start);
  const { text } = declaration.range.source;
  const before = text.slice(0, Math.min(...starts)).replace(/(export|@\w+|\s)+$/, '');
  if (!before.endsWith('*/')) return '';
  const comment = before.slice(before.lastIndexOf('/**'));
  const lines = comment.split('\n').map((line) => line.trim());
  return lines.map((line, i) => `${indent}${i === 0 ? '' : ' '}${line}\n`).join('');
}
