import { acceptableSchema, plainSchema } from './acceptable-schema';

describe('the schema that a provider gets', () => {
  it('has no references, and ends where one refers to itself', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' }, name: { type: 'string' } } };
    const schema = acceptableSchema({
      type: 'object',
      properties: { root: { $ref: '#/$defs/node' } },
      $defs: { node },
    });
    expect(JSON.stringify(schema)).not.toContain('$ref');
    expect(schema).toMatchObject({
      properties: { root: { properties: { next: { properties: { name: { type: 'string' } } } } } },
    });
  });

  it('has no combinator at its top: properties are united, and what all alternatives require is required', () => {
    const branch = (name: string) => ({ properties: { [name]: { type: 'string' } }, required: [name, 'id'] });
    const schema = acceptableSchema({
      type: 'object',
      description: 'One of two.',
      anyOf: [branch('content'), branch('url')],
    });
    expect(schema).toMatchObject({
      type: 'object',
      properties: { content: { type: 'string' }, url: { type: 'string' } },
      required: ['id'],
      description: expect.stringContaining('One of two. The arguments must also satisfy'),
    });
    expect(schema).not.toHaveProperty('anyOf');
  });

  it('has items for every list', () => {
    expect(acceptableSchema({ type: 'object', properties: { a: { type: 'array' } } })).toMatchObject({
      properties: { a: { type: 'array', items: {} } },
    });
  });

  it('has one type each, and choices that are texts, for a server that knows no more', () => {
    const schema = plainSchema({
      $schema: 'x',
      type: 'object',
      properties: { a: { type: ['string', 'null'] }, b: { const: 'x' }, c: { enum: [1, 2] }, d: { type: 'array' } },
      patternProperties: {},
    });
    expect(schema).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string', nullable: true },
        b: { type: 'string', enum: ['x'] },
        c: { type: 'number', description: 'One of: [1,2]' },
        d: { type: 'array', items: { type: 'string' } },
      },
    });
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['no empty choice', { type: 'string', enum: ['x', ''] }, { type: 'string', enum: ['x'] }],
    ['no format but of times and numbers', { type: 'string', format: 'uri' }, { type: 'string' }],
    ['no pattern and no limit of a length', { type: 'string', pattern: '.*x', maxLength: 9 }, { type: 'string' }],
    ['a type everywhere', { description: 'Anything.' }, { type: 'string', description: 'Anything.' }],
    ['no object with an empty list of properties', { type: 'object', properties: {} }, { type: 'object' }],
    [
      'nothing required that is not declared',
      { type: 'object', properties: { a: { type: 'string' } }, required: ['b'] },
      { type: 'object', properties: { a: { type: 'string' } } },
    ],
    [
      'nothing beside alternatives',
      { type: 'object', description: 'Two.', anyOf: [{ type: 'string' }, { oneOf: [{ type: 'number' }] }] },
      {
        anyOf: [
          { description: 'Two.', type: 'string' },
          { description: 'Two.', type: 'number' },
        ],
      },
    ],
    [
      'no alternatives beside properties',
      { type: 'object', properties: { a: { type: 'string' } }, anyOf: [{ required: ['a'] }, {}] },
      { type: 'object', properties: { a: { type: 'string' } } },
    ],
    [
      'no alternative for null',
      { default: null, anyOf: [{ type: 'integer' }, { type: 'null' }] },
      { type: 'integer', nullable: true },
    ],
  ])('has %s for such a server', (_, property, plain) => {
    const schema = plainSchema({ type: 'object', properties: { p: property } });
    expect(schema).toEqual({ type: 'object', properties: { p: plain } });
  });
});
