import { toDollars } from './dollars';

it.each([
  [0, '$0.0000'],
  [0.00003, 'under $0.0001'],
  [0.0001, '$0.0001'],
  [1.5, '$1.5000'],
  [-2, 'minus $2.0000'],
])('%s USD are %s', (usd, words) => {
  expect(toDollars(usd)).toBe(words);
});
