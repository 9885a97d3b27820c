import fc from 'fast-check';
import { findInexactNumber, quoteInexactNumbers } from './json-text';

describe('numbers of a text of JSON', () => {
  it.each([
    ['{"id":820982911946154508}', '820982911946154508'],
    ['[1,-9007199254740993]', '-9007199254740993'],
    ['{"a":"\\\\","b":1e400}', '1e400'],
    ['{"a":"9007199254740993","b":9007199254740993}', '9007199254740993'],
  ])('are found where they would not be kept as they are written: %s', (json, number) => {
    expect(findInexactNumber(json)).toBe(number);
    expect(JSON.stringify(JSON.parse(quoteInexactNumbers(json)))).toContain(`"${number}"`);
  });

  it.each([
    '{"id":9007199254740991,"b":10000000000000000,"c":-0,"d":1e21,"e":1000000000000000000000}',
    '{"ratio":0.12345678901234567890,"least":5e-324}',
    '{"text":"9007199254740993","quoted":"a \\"9007199254740993","9007199254740993":1}',
  ])('are left alone where they are exact, fractions, or text: %s', (json) => {
    expect(findInexactNumber(json)).toBeUndefined();
    expect(quoteInexactNumbers(json)).toBe(json);
  });

  it('are sought once in a long text that is no JSON', () => {
    expect(findInexactNumber(`0000000000000000 "${String.raw`\"`.repeat(500_000)}`)).toBeUndefined();
  });

  it('are never found in what was written by this program', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => findInexactNumber(JSON.stringify(value)) === undefined));
  });
});
