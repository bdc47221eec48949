// What a schema accepts, in words that follow "must be".
import { memberSchema, type SchemaData } from './schema-data.ts';

/** `a whole number from 0 to 5`, `one of prob, normal`, `a number or auto`. */
export function acceptedText(schema: SchemaData): string {
  if (schema.accepted !== undefined) return schema.accepted;
  if (schema.enum !== undefined) return `one of ${schema.enum.join(', ')}`;
  if (schema.const !== undefined) return String(schema.const);
  if (schema.anyOf !== undefined) return schema.anyOf.map(acceptedText).join(' or ');
  switch (schema.type) {
    case 'boolean':
      return 'true or false';
    case 'integer':
      return `a whole number${rangeText(schema)}`;
    case 'number':
      return `a number${rangeText(schema)}`;
    case 'string':
      return 'a text';
    case 'object':
      return `an object${membersText(memberSchema(schema, ''))}`;
    default:
      return 'a value';
  }
}

/** An object whose keys are free has members of one kind. */
function membersText(member: SchemaData | undefined): string {
  if (member?.type === 'integer') return ` of whole numbers${rangeText(member)}`;
  if (member?.type === 'number') return ` of numbers${rangeText(member)}`;
  return '';
}

/** ` from 0 to 5`, ` above 0`. */
function rangeText({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: SchemaData): string {
  const above = exclusiveMinimum === undefined ? '' : ` above ${exclusiveMinimum}`;
  const from = minimum === undefined ? above : ` from ${minimum}`;
  if (maximum !== undefined) return `${from} to ${maximum}`;
  return exclusiveMaximum === undefined ? from : `${from} and below ${exclusiveMaximum}`;
}
