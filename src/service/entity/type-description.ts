// Descriptions of types in the form that older clients know, derived from parameter schemas.
import type { EntityType } from '../../dataset/entity-type.ts';
import { type SchemaData, schemaData } from '../../schema/schema-data.ts';

export interface TypeDescription {
  readonly kind: string;
  readonly typeName: string;
  readonly fields?: readonly unknown[];
  readonly values?: readonly unknown[];
  readonly contained?: TypeDescription;
}

const ATOM_TYPES: Readonly<Record<string, readonly [kind: string, typeName: string]>> = {
  string: ['STRING', 'string'],
  integer: ['INTEGER', 'int'],
  number: ['FLOAT', 'double'],
  boolean: ['BOOLEAN', 'bool'],
};

const ROLE_TYPES: Readonly<Record<string, string>> = {
  dataset: 'MLDB::PolyConfigT<MLDB::Dataset const>',
  table: 'MLDB::TableExpression',
  'output-dataset': 'MLDB::PolyConfigT<MLDB::Dataset>',
  function: 'MLDB::PolyConfigT<MLDB::Function>',
  'output-function': 'MLDB::PolyConfigT<MLDB::Function>',
  procedure: 'MLDB::PolyConfigT<MLDB::Procedure>',
  'input-query': 'MLDB::InputQuery',
  url: 'MLDB::Url',
};

/** `MLDB::SvdTrainConfig` for `svd.train`. */
export function configTypeName(type: EntityType): string {
  const words = type.name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const pascal = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  const suffix = type.kind === 'dataset' ? 'DatasetConfig' : 'Config';
  return `MLDB::${pascal}${suffix}`;
}

export function describeConfig(type: EntityType): TypeDescription {
  return describe(schemaData(type.parameters), configTypeName(type), true);
}

function describe(schema: SchemaData, name: string | undefined, isTop: boolean): TypeDescription {
  if (schema.rowan !== undefined) {
    return { kind: 'STRUCTURE', typeName: ROLE_TYPES[schema.rowan] ?? schema.rowan };
  }
  if (schema.enum !== undefined) {
    return {
      kind: 'ENUM',
      typeName: name ?? 'enum',
      values: schema.enum.map((value) => ({ name: value, comment: '' })),
    };
  }
  const atom = ATOM_TYPES[schema.type ?? ''];
  if (atom !== undefined) return { kind: atom[0], typeName: atom[1] };
  if (schema.type === 'array') {
    const items = Array.isArray(schema.items) ? undefined : (schema.items as SchemaData);
    const contained = items === undefined ? undefined : describe(items, undefined, false);
    return {
      kind: 'ARRAY',
      typeName: `std::vector<${contained?.typeName ?? 'any'} >`,
      ...(contained === undefined ? {} : { contained }),
    };
  }
  if (schema.type === 'object' && schema.properties !== undefined) {
    const fields = isTop ? { fields: describeFields(schema.properties) } : {};
    return { kind: 'STRUCTURE', typeName: name ?? 'structure', ...fields };
  }
  if (schema.type === 'object') return { kind: 'MAP', typeName: name ?? 'Json::Value' };
  return { kind: 'ANY', typeName: 'MLDB::Any' };
}

function describeFields(properties: Readonly<Record<string, SchemaData>>): unknown[] {
  return Object.entries(properties).map(([name, property]) => ({
    name,
    comment: property.description ?? '',
    type: describe(property, undefined, false),
    ...(property.default === undefined ? {} : { default: property.default }),
  }));
}

function enumeration(typeName: string, values: Readonly<Record<string, string>>): TypeDescription {
  return {
    kind: 'ENUM',
    typeName,
    values: Object.entries(values).map(([name, comment]) => ({ name, comment })),
  };
}

/** Types that are no configuration of an entity. */
export const COMMON_TYPES: readonly TypeDescription[] = [
  enumeration('MLDB::ValueKind', {
    ATOM: 'atomic type',
    INTEGER: 'integral type',
    FLOAT: 'floating point type',
    BOOLEAN: 'boolean',
    STRING: 'text',
    ENUM: 'one of a fixed set of values',
    OPTIONAL: 'value that may be absent',
    LINK: 'reference to a value',
    ARRAY: 'array of values of one type',
    STRUCTURE: 'named fields',
    TUPLE: 'array of values of given types',
    VARIANT: 'value of one of several types',
    MAP: 'map from names to values of one type',
    ANY: 'any value',
  }),
  enumeration('MLDB::JoinQualification', {
    JOIN_INNER: 'pairs only',
    JOIN_LEFT: 'pairs, and left rows without a partner',
    JOIN_RIGHT: 'pairs, and right rows without a partner',
    JOIN_FULL: 'pairs, and rows of both sides without a partner',
  }),
  { kind: 'STRING', typeName: 'std::string' },
  { kind: 'STRING', typeName: 'MLDB::Utf8String' },
  { kind: 'STRING', typeName: 'MLDB::Url' },
  { kind: 'STRING', typeName: 'MLDB::InputQuery' },
  { kind: 'BOOLEAN', typeName: 'bool' },
  { kind: 'INTEGER', typeName: 'int' },
  { kind: 'FLOAT', typeName: 'float' },
  { kind: 'FLOAT', typeName: 'double' },
  { kind: 'ANY', typeName: 'MLDB::Any' },
];
