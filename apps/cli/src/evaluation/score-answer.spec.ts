import fc from 'fast-check';
import { type TextScorer, isRight } from './score-answer';

const right = (scorer: TextScorer, prediction: string, trueAnswer: string, tolerance: number | null = null) =>
  isRight({ scorer, prediction, trueAnswer, tolerance });

describe('the score of an answer', () => {
  it.each([
    ['17', '17', true],
    ['$1,700.0', '1700', true],
    ['17 %', '17', true],
    ['seventeen', '17', false],
    ['the  Seagull!', 'The Seagull', true],
    ['sea gull', 'seagull', true],
    ['pears, 2', 'Pears,2.0', true],
    ['2; pears', 'pears; 2', false],
    ['pears', 'pears, 2', false],
    ['', '0', false],
  ])('gaia: %j for %j is right: %j', (prediction, trueAnswer, expected) => {
    expect(right('gaia', prediction, trueAnswer)).toBe(expected);
  });

  it.each([
    ['exact', ' Paris\n', 'Paris', null, true],
    ['exact', 'paris', 'Paris', null, false],
    ['number', '3.15', '3.14', 0.02, true],
    ['number', '3.17', '3.14', 0.02, false],
    ['number', 'about 3', '3', 1, false],
    ['regex', 'It is Paris.', '\\bparis\\b|Paris', null, true],
    ['regex', 'It is London.', '^Paris', null, false],
  ] as const)('%s: %j for %j within %j is right: %j', (scorer, prediction, trueAnswer, tolerance, expected) => {
    expect(right(scorer, prediction, trueAnswer, tolerance)).toBe(expected);
  });

  it('a text is what it says by every rule but those of patterns and schemas', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom<TextScorer>('gaia', 'exact'), (text, scorer) =>
        right(scorer, text, text),
      ),
    );
  });

  it('gaia looks neither at case nor at space, in text without separators', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z ]{1,30}$/), (text) =>
        right('gaia', ` ${text.toUpperCase().replaceAll(' ', '  ')}\n`, text),
      ),
    );
  });

  it('ends a pattern that would take for ever on what a model wrote, as one that does not match', () => {
    expect(right('regex', `${'a'.repeat(60)}!`, '^(a+)+$')).toBe(false);
  });

  it('says that a pattern is none', () => {
    expect(() => right('regex', 'a', '(')).toThrow(/Invalid regular expression/);
  });

  const schema = JSON.stringify({
    type: 'object',
    properties: { name: { type: 'string', pattern: '^[A-Z]' }, since: { type: 'string', format: 'date' } },
    required: ['name'],
    additionalProperties: false,
  });

  it.each([
    ['{"name": "Rondo", "since": "2026-01-31"}', true],
    ['```json\n{"name": "Rondo"}\n```', true],
    ['{"name": "rondo"}', false],
    ['{"name": "Rondo", "since": "soon"}', false],
    ['{"name": "Rondo", "size": 4}', false],
    ['The name is Rondo.', false],
  ])('json_schema: %j is right: %j', (prediction, expected) => {
    expect(right('json_schema', prediction, schema)).toBe(expected);
  });

  it('json_schema: tells two patterns of a schema apart', () => {
    const two = JSON.stringify({ type: 'array', prefixItems: [{ pattern: '^a' }, { pattern: '^b' }], items: false });

    expect(right('json_schema', '["a", "b"]', two)).toBe(true);
    expect(right('json_schema', '["b", "b"]', two)).toBe(false);
    expect(right('json_schema', '["a", "a"]', two)).toBe(false);
  });

  it('json_schema: a pattern that would take for ever makes the answer wrong, also where it must not match', () => {
    const slow = { pattern: '^(a+)+$' };
    const text = JSON.stringify(`${'a'.repeat(60)}!`);

    expect(right('json_schema', text, JSON.stringify(slow))).toBe(false);
    expect(right('json_schema', text, JSON.stringify({ not: slow }))).toBe(false);
  });
});
