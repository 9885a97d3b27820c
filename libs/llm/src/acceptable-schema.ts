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
    requiredBy(some[0]).filter((name) => some.every((one) => requiredBy(one).includes(name))),
  );
  const always = Array.isArray(schema['allOf'])
    ? (schema['allOf'] as unknown[]).filter(isSchema).map(uniteAlternatives).flatMap(requiredBy)
    : [];
  const required = [...new Set([...requiredBy(schema), ...always, ...shared])];
  if (required.length > 0) top['required'] = required;
  if (branches.length > 0) top['description'] = describeRules(schema, used);
  return top;
}

const requiredBy = (schema: Schema | undefined): string[] => {
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

const known = [
  ...[
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
  ],
  ...['minimum', 'maximum', 'minItems', 'maxItems', 'minLength', 'maxLength', 'pattern'],
];

function plain(schema: Schema): Schema {
  const entries = Object.entries(schema).filter(([key]) => known.includes(key));
  const kept: Schema = Object.fromEntries(entries);
  if (isSchema(kept['properties']))
    kept['properties'] = Object.fromEntries(
      Object.entries(kept['properties']).map(([name, one]) => [name, isSchema(one) ? plain(one) : {}]),
    );
  if ('items' in kept) kept['items'] = isSchema(kept['items']) ? plain(kept['items']) : {};
  const branches = [schema['anyOf'], schema['oneOf']].find(Array.isArray) as unknown[] | undefined;
  if (branches) kept['anyOf'] = branches.filter(isSchema).map(plain);
  return withPlainType(kept, schema);
}

/** One type each, with null apart; constants and choices as texts, or told in the description. */
function withPlainType(kept: Schema, { type, enum: choices, const: constant }: Schema): Schema {
  const types = Array.isArray(type) ? (type as unknown[]).filter((one) => one !== 'null') : [];
  const single = Array.isArray(type)
    ? { type: types[0] ?? 'string', ...(types.length < type.length && { nullable: true }) }
    : {};
  const values = Array.isArray(choices) ? choices : constant === undefined ? undefined : [constant];
  const { enum: _, ...rest }: Schema = { ...kept, ...single };
  if (!values) return rest;
  const texts = values.filter((value) => value !== null);
  if (texts.every((value) => typeof value === 'string')) return { type: 'string', ...rest, enum: texts };
  const said = typeof rest['description'] === 'string' ? `${rest['description']} ` : '';
  return { ...rest, description: `${said}One of: ${JSON.stringify(values)}` };
}
