import type { RunRow } from '@rondo/client';
import { alignIterations } from './aligned-iterations';

const says = (iteration: number, text: string, role = 'assistant') =>
  ({ kind: 'message', id: text, iteration, role, text }) as RunRow;
const calls = (iteration: number, command: string) =>
  ({ kind: 'tool_call', id: command, iteration, name: 'shell', arguments: { command } }) as unknown as RunRow;

it('aligns iterations by their number, and says how they differ', () => {
  const a = [says(0, 'Go.', 'user'), calls(1, 'ls'), says(2, 'Two files.'), calls(3, 'rm a'), says(4, 'Done.')];
  const b = [says(0, 'Go.', 'user'), calls(1, 'ls'), says(2, 'There are two.'), calls(3, 'rm b')];
  expect(alignIterations(a, b).map(({ number, difference }) => [number, difference])).toEqual([
    [0, 'same'],
    [1, 'same'],
    [2, 'words'],
    [3, 'calls'],
    [4, 'only a'],
  ]);
});

it('screens of a browser do not count', () => {
  expect(alignIterations([says(1, 'x', 'browser_state')], [])).toEqual([]);
});
