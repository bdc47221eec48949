// What a function takes, from the description that it gives of itself.

interface ValueInfo {
  readonly kind?: string;
  readonly scalar?: string;
  readonly knownColumns?: readonly { readonly columnName: string; readonly valueInfo: ValueInfo }[];
  readonly hasUnknownColumns?: boolean;
}

export interface FunctionInfo {
  readonly input?: readonly ValueInfo[];
  readonly output?: ValueInfo;
}

/** One value that the user gives. */
export interface InputField {
  /** where it goes in the input, for instance ['features', 'age'] */
  readonly path: readonly string[];
  readonly kind: 'number' | 'text' | 'any';
}

const FIELD_COUNT_MAX = 200;

/** The leaves of the input; undefined when it takes what nobody can list. */
export function inputFields(info: FunctionInfo): readonly InputField[] | undefined {
  const fields: InputField[] = [];
  let isOpen = false;
  const visit = (value: ValueInfo, path: readonly string[]) => {
    if (fields.length >= FIELD_COUNT_MAX) return;
    if (value.kind === 'row') {
      if (value.hasUnknownColumns === true) isOpen = true;
      for (const { columnName, valueInfo } of value.knownColumns ?? [])
        visit(valueInfo, [...path, columnName]);
    } else if (path.length > 0) fields.push({ path, kind: kindOf(value) });
  };
  for (const value of info.input ?? []) visit(value, []);
  return isOpen && fields.length === 0 ? undefined : fields;
}

function kindOf({ scalar }: ValueInfo): InputField['kind'] {
  if (scalar === undefined || scalar === 'any') return 'any';
  return /string|utf8|path/i.test(scalar) ? 'text' : 'number';
}

export type InputValues = ReadonlyMap<string, string>;

export function fieldKey({ path }: InputField): string {
  return JSON.stringify(path);
}

/** The JSON of an input; fields that are left empty are not given. */
export function inputOf(
  fields: readonly InputField[],
  values: InputValues,
): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const field of fields) {
    const text = values.get(fieldKey(field)) ?? '';
    if (text === '') continue;
    let owner = input;
    for (const name of field.path.slice(0, -1)) {
      owner[name] ??= {};
      owner = owner[name] as Record<string, unknown>;
    }
    owner[field.path.at(-1) as string] = inputValue(field, text);
  }
  return input;
}

function inputValue({ kind }: InputField, text: string): unknown {
  if (kind === 'text') return text;
  const number = Number(text);
  return text.trim() === '' || Number.isNaN(number) ? text : number;
}

/** The numbers of an output by their names. */
export function outputNumbers(output: unknown, path = ''): Map<string, number> {
  const found = new Map<string, number>();
  if (typeof output === 'number') found.set(path || 'value', output);
  else if (typeof output === 'object' && output !== null) {
    for (const [name, member] of Object.entries(output)) {
      for (const each of outputNumbers(member, path === '' ? name : `${path}.${name}`))
        found.set(...each);
    }
  }
  return found;
}
