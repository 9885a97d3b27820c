import { SchemaChecker } from './schema-checker';

const never = new AbortController().signal;
const schemas = new SchemaChecker({ processes: 1, listMs: 2_000, valueMs: 2_000 });
afterAll(() => schemas.close());

const objectWith = (a: object) => ({ type: 'object', properties: { a } });
const findProblem = (schema: object, given: unknown) => schemas.findProblem({ ...schema }, given, never);
const readProblems = (...given: object[]) =>
  schemas.readProblems(
    given.map((schema) => ({ ...schema })),
    never,
  );

/** Each level refers twice to the next: to look at all of it takes 2^60 steps. */
const doubling = {
  ...{ type: 'object', properties: { a: { $ref: '#/$defs/d0' } } },
  $defs: Object.fromEntries(
    Array.from({ length: 60 }, (_, level) => {
      const next = { $ref: level === 59 ? '#/$defs/end' : `#/$defs/d${level + 1}` };
      return [`d${level}`, { anyOf: [{ not: next }, { not: { not: next } }, { allOf: [next, next] }] }];
    }).concat([['end', { not: {} }] as never]),
  ),
};

describe('attack: a schema of a server', () => {
  it.each<[string, object, string]>([
    [
      'refers to another document by a dynamic reference',
      objectWith({ $dynamicRef: 'http://169.254.169.254/' }),
      'hash',
    ],
    ['refers to what there is not', objectWith({ $ref: '#/$defs/none' }), 'reference'],
    ['refers to itself without end', { type: 'object', allOf: [{ $ref: '#' }] }, 'without end'],
    ['answers later', { type: 'object', $async: true }, 'valid JSON Schema'],
    ['has code where a number stands', { type: 'object', minProperties: '1);process.exit()//' }, 'valid JSON Schema'],
    ['has a pattern that is none', objectWith({ type: 'string', pattern: '(' }), 'regular expression'],
    ['is of a dialect that is none', { $schema: 'http://169.254.169.254/', type: 'object' }, 'dialect'],
  ])('that %s cannot be used', async (_, schema, reason) => {
    const [bad, good] = await readProblems(schema, objectWith({ type: 'string' }));
    expect(bad).toContain(reason);
    expect(good).toBeUndefined(); // it costs no other schema anything
  });

  it('with a pattern that takes for ever fails its call, and the next one is checked', async () => {
    const slow = objectWith({ type: 'string', pattern: '^(a+)+$' });
    expect(await findProblem(slow, { a: `${'a'.repeat(60)}!` })).toContain('takes too long');
    expect(await findProblem(slow, { a: 'aaa' })).toBeUndefined();
  });

  it('with references that double at each level fails its call', async () => {
    expect(await findProblem(doubling, { a: 1 })).toContain('takes too long');
  });

  it('with names of what every object has demands nothing by that', async () => {
    const inherited = { type: 'object', properties: { toString: { type: 'number' }, constructor: { type: 'number' } } };
    expect(await findProblem(inherited, {})).toBeUndefined();
    expect(await findProblem({ ...inherited, required: ['constructor'] }, {})).toContain('constructor');
  });

  it('gets no code run by what its names contain', async () => {
    const name = `a']};globalThis.process.exit(1);({['`;
    const schema = { type: 'object', properties: { [name]: { type: 'string', enum: ["'+process.exit(1)+'"] } } };
    expect(await findProblem(schema, { [name]: 'other' })).toContain('must be equal');
  });
});

describe('SchemaChecker', () => {
  it('says where a value is not what the schema demands', async () => {
    const schema = { ...objectWith({ type: 'object', properties: { n: { type: 'integer' } } }), required: ['a', 'b'] };
    expect(await findProblem(schema, { a: { n: 'x' } })).toBe(
      "- the whole: must have required property 'b'\n- a.n: must be integer",
    );
  });

  it.each<[string, { $schema?: string; items?: object; prefixItems?: object }]>([
    ['draft 7', { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] }],
    ['draft 2019-09', { $schema: 'https://json-schema.org/draft/2019-09/schema', items: [{ type: 'string' }] }],
    ['draft 2020-12', { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{ type: 'string' }] }],
    ['no dialect that it names', { items: [{ type: 'string' }] }],
  ])('reads %s', async (_, { $schema, ...list }) => {
    const schema = {
      ...($schema !== undefined && { $schema }),
      type: 'object',
      properties: { a: { type: 'array', ...list } },
    };
    expect(await findProblem(schema, { a: ['x'] })).toBeUndefined();
    expect(await findProblem(schema, { a: [1] })).toBe('- a.0: must be string');
  });

  it('takes patterns that are written for no Unicode', async () => {
    const schema = objectWith({ type: 'string', pattern: '^[\\w-\\.]+$' });
    expect(await readProblems(schema)).toEqual([undefined]);
    expect(await findProblem(schema, { a: 'b-c.d' })).toBeUndefined();
  });

  it('refuses what there is no time to judge', async () => {
    const hurried = new SchemaChecker({ processes: 1, listMs: 0, valueMs: 0 });
    expect(await hurried.readProblems([{ type: 'object' }], never)).toEqual(['takes too long to be checked']);
    await hurried.close();
  });
});
