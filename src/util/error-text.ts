// Messages whose form stands in the catalogue of errors, made from their parts.
import { ERRORS, type ErrorCode, type ErrorEntry } from './error-catalogue.ts';

type Value = string | number;

/** The names in angle brackets of a template. */
type PartName<Template extends string> = Template extends `${string}<${infer Name}>${infer Rest}`
  ? Name | PartName<Rest>
  : never;

/** Those of them that stand in square brackets. */
type OptionalName<Template extends string> =
  Template extends `${string}[${infer Optional}]${infer Rest}`
    ? PartName<Optional> | OptionalName<Rest>
    : never;

/** Where a template has no parts, the empty object; a text would pass as `{}`. */
type PartsOf<Template extends string> = [PartName<Template>] extends [never]
  ? { readonly form?: never }
  : NamedParts<Template>;

type NamedParts<Template extends string> = {
  readonly [Name in Exclude<PartName<Template>, OptionalName<Template>>]: Value;
} & { readonly [Name in OptionalName<Template>]?: Value | undefined };

type FormsOf<Forms> = {
  [Form in keyof Forms]: { readonly form: Form } & NamedParts<Forms[Form] & string>;
}[keyof Forms];

type Formed = { readonly template: string; readonly parts: object };

/** What a call says of a failure: the parts of one of the forms of its code, or a text of its own. */
export type TextOf<Code extends ErrorCode> = Code extends ErrorCode
  ? (typeof ERRORS)[Code] extends Formed
    ?
        | PartsOf<(typeof ERRORS)[Code]['template']>
        | ((typeof ERRORS)[Code] extends { readonly forms: infer Forms } ? FormsOf<Forms> : never)
    : string
  : never;

/** The parts alone. */
export type PartsFor<Code extends ErrorCode> = Exclude<TextOf<Code>, string>;

const PLACE = /\[([^\]]*)\]|<([^>]+)>/g;

/** The message of a code, from the parts of one of its forms; `form` names one besides the first. */
export function errorText<Code extends ErrorCode>(code: Code, parts: PartsFor<Code>): string {
  const entry: ErrorEntry = ERRORS[code];
  const { form, ...values } = parts as Readonly<Record<string, Value | undefined>>;
  const forms = 'forms' in entry ? entry.forms : undefined;
  return fill((form === undefined ? undefined : forms?.[form]) ?? entry.template, values);
}

/** The example of an entry: the one that is written, or what its parts make. */
export function exampleOf(entry: ErrorEntry): string {
  return 'example' in entry ? entry.example : fill(entry.template, entry.parts);
}

function fill(template: string, values: Readonly<Record<string, Value | undefined>>): string {
  return template.replace(PLACE, (_, optional: string | undefined, name: string) => {
    if (optional === undefined) return String(values[name]);
    const isGiven = values[optional.slice(optional.indexOf('<') + 1, optional.indexOf('>'))];
    return isGiven === undefined ? '' : fill(optional, values);
  });
}
