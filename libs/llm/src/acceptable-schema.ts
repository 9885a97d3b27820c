type Schema = Record<string, unknown>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const combinators = ['anyOf', 'oneOf', 'allOf'] as const;
const depthOfReferences = 8;

/**
 * The schema of a tool's arguments as providers accept it: without references, with the alternatives at its top united in one
 * object, and with items for every list. It tells the model what to write; calls are checked against the schema of the tool.
 */
export const acceptableSchema = (schema: Schema): Schema => uniteAlternatives(dereference(schema, schema, 0));

/** The same for servers that know only a part of JSON Schema. */
export const plainSchema = (schema: Schema): Schema => plain(acceptableSchema(schema));

/** A schema that refers to itself ends in one that accepts anything. */
function dereference(schema: Schema, root: Schema, depth: number): Schema {
  const { $ref, $defs: _, definitions: __, ...rest } = schema;
  if (typeof $ref === 'string') {
    const target = depth < depthOfReferences ? findTarget($ref, root) : undefined;
    return { ...(target && dereference(target, root, depth + 1)), ...each(rest, root, depth) };
  }
  const found = each(rest, root, depth);
  const isBareList = found['type'] === 'array' && found['items'] === undefined && found['prefixItems'] === undefined;
  return isBareList ? { ...found, items: {} } : found;
}

const each = (schema: Schema, root: Schema, depth: number): Schema =>
  Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, within(key, value, { root, depth })]));

interface Place {
  readonly root: Schema;
  readonly depth: number;
}

/** Values that are data stay as they are. */
function within(key: string, value: unknown, place: Place): unknown {
  if (['enum', 'const', 'default', 'examples', 'required'].includes(key)) return value;
  if (key === 'properties' && isSchema(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, within('', one, place)]));
  if (Array.isArray(value)) return value.map((one: unknown) => within('', one, place));
  return isSchema(value) ? dereference(value, place.root, place.depth) : value;
}

function findTarget(reference: string, root: Schema): Schema | undefined {
  if (!reference.startsWith('#')) return undefined;
  let at: unknown = root;
  for (const step of reference.slice(1).split('/').filter(Boolean))
    at = isSchema(at) ? at[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  return isSchema(at) ? at : undefined;
}

/** Properties of all alternatives, of which those are required that all require; what else they say is in the description. */
function uniteAlternatives(schema: Schema): Schema {
  const used = combinators.filter((name) => Array.isArray(schema[name]));
  const { if: _, then, else: otherwise, not: __, ...rest } = schema;
  const { anyOf: ___, oneOf: ____, allOf: _____, ...kept } = rest;
  const top: Schema = { ...kept, type: 'object' };
  const branches = [...used.flatMap((name) => schema[name] as unknown[]), then, otherwise]
    .filter(isSchema)
    .map(uniteAlternatives);
  const properties = [...branches, schema].map((one) => one['properties']).filter(isSchema);
  top['properties'] = Object.assign({}, ...properties) as Schema;
  const alternatives = used
    .filter((name) => name !== 'allOf')
    .map((name) => (schema[name] as unknown[]).filter(isSchema).map(uniteAlternatives));
  const shared = alternatives.flatMap((some) =>
    listRequired(some[0]).filter((name) => some.every((one) => listRequired(one).includes(name))),
  );
  const always = Array.isArray(schema['allOf'])
    ? (schema['allOf'] as unknown[]).filter(isSchema).map(uniteAlternatives).flatMap(listRequired)
    : [];
  const required = [...new Set([...listRequired(schema), ...always, ...shared])];
  if (required.length > 0) top['required'] = required;
  if (branches.length > 0) top['description'] = describeRules(schema, used);
  return top;
}

const listRequired = (schema: Schema | undefined): string[] => {
  const names = schema?.['required'];
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
};

function describeRules(schema: Schema, used: readonly string[]): string {
  const rules = Object.fromEntries(
    [...used, 'if', 'then', 'else', 'not'].flatMap((name) => (name in schema ? [[name, schema[name]]] : [])),
  );
  const said = typeof schema['description'] === 'string' ? `${schema['description']} ` : '';
  return `${said}The arguments must also satisfy: ${JSON.stringify(rules).slice(0, 2_000)}`;
}

/** Patterns and limits of lengths are left out, too: some servers make a grammar of schemas, and cannot make one of those. */
const known = [
  'type',
  'description',
  'properties',
  'required',
  'items',
  'enum',
  'nullable',
  'format',
  'title',
  'default',
  'anyOf',
];
const limits = ['minimum', 'maximum'];

/** The formats that are known; `uri` and others are refused. */
const formats = ['date-time', 'int32', 'int64', 'float', 'double'];

function plain(schema: Schema): Schema {
  const kept: Schema = Object.fromEntries(
    Object.entries(schema).filter(([key, value]) =>
      key === 'format' ? formats.includes(String(value)) : known.includes(key) || limits.includes(key),
    ),
  );
  if (isSchema(kept['properties']))
    kept['properties'] = Object.fromEntries(
      Object.entries(kept['properties']).map(([name, one]) => [name, plainProperty(one)]),
    );
  if ('required' in kept) kept['required'] = listRequired(kept).filter((name) => has(kept['properties'], name));
  if ('items' in kept) kept['items'] = plainProperty(kept['items']);
  return withPlainChoice(withPlainType(kept, schema), schema);
}

const has = (properties: unknown, name: string): boolean => isSchema(properties) && Object.hasOwn(properties, name);

/** A schema below the top: it needs a type, and has no lists that are empty. */
function plainProperty(schema: unknown): Schema {
  const { properties, required, ...rest } = plain(isSchema(schema) ? schema : {});
  const named = isSchema(properties) && Object.keys(properties).length > 0 ? { properties } : {};
  const needed = Array.isArray(required) && required.length > 0 ? { required } : {};
  const type = 'anyOf' in rest ? {} : { type: rest['type'] ?? usualType(rest, 'properties' in named) };
  return { ...type, ...rest, ...named, ...needed };
}

const usualType = (schema: Schema, hasProperties: boolean): string => {
  if (hasProperties) return 'object';
  return 'items' in schema ? 'array' : 'string';
};

/** One type each, with null apart; constants and choices as texts, or told in the description. */
function withPlainType(kept: Schema, { type, enum: choices, const: constant }: Schema): Schema {
  const types = Array.isArray(type) ? (type as unknown[]).filter((one) => one !== 'null') : [];
  const single = Array.isArray(type)
    ? { type: types[0] ?? 'string', ...(types.length < type.length && { nullable: true }) }
    : {};
  const values = Array.isArray(choices) ? choices : constant === undefined ? undefined : [constant];
  const { enum: _, ...rest }: Schema = { ...kept, ...single };
  if (!values) return rest;
  const texts = values.filter((value) => value !== null && value !== '');
  if (texts.every((value) => typeof value === 'string'))
    return texts.length > 0 ? { ...rest, type: 'string', enum: texts } : rest;
  const said = typeof rest['description'] === 'string' ? `${rest['description']} ` : '';
  const shared = ['number', 'boolean'].find((name) => texts.every((value) => typeof value === name));
  return { ...(shared && { type: shared }), ...rest, description: `${said}One of: ${JSON.stringify(values)}` };
}

/** Alternatives stand alone: without a type or properties beside them, and with null apart. */
function withPlainChoice({ anyOf: _, ...kept }: Schema, { anyOf, oneOf }: Schema): Schema {
  const given = [anyOf, oneOf].find(Array.isArray)?.filter(isSchema) ?? [];
  const branches = given.filter(({ type }) => type !== 'null').map(plainProperty);
  const [first, ...others] = branches;
  if (!first || 'properties' in kept) return kept;
  const { description } = kept;
  const shared = {
    ...(description !== undefined && { description }),
    ...(branches.length < given.length && { nullable: true }),
  };
  return others.length === 0
    ? { ...first, ...shared }
    : { anyOf: branches.map((branch) => ({ ...shared, ...branch })) };
}
