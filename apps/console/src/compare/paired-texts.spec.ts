import type { RunRow } from '@rondo/client';
import { pairTexts } from './paired-texts';

const says = (id: string, text: string, { role = 'assistant', isOpen = false } = {}) =>
  ({ kind: 'message', id, iteration: 1, role, text, isOpen }) as RunRow;

it('pairs the messages of an author by their place, where the words differ', () => {
  const a = [says('a1', 'Go.', { role: 'user' }), says('a2', 'Red.'), says('a3', 'Same.')];
  const b = [says('b1', 'Blue.'), says('b2', 'Same.'), says('b3', 'Stop.', { role: 'user' }), says('b4', 'More.')];

  expect([...pairTexts(a, b)]).toEqual([
    ['a1', 'Stop.'],
    ['a2', 'Blue.'],
  ]);
  expect([...pairTexts(b, a)]).toEqual([
    ['b1', 'Red.'],
    ['b3', 'Go.'],
  ]);
});

it('leaves out what is still written', () => {
  const [open, whole] = [says('a', 'Re', { isOpen: true }), says('b', 'Blue.')];
  expect(pairTexts([open], [whole]).size + pairTexts([whole], [open]).size).toBe(0);
});
