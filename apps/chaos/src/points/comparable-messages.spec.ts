import { comparable, findDifference, withoutAnswers } from './comparable-messages';

const said = (type: string, text: string) => ({ type, content: [{ type: 'text', text }] });
const answered = (output: string) => ({ type: 'tool', content: [{ type: 'tool_result', output }] });
const called = (text: string, ...names: string[]) => ({
  type: 'assistant',
  content: [{ type: 'text', text }, ...names.map((name) => ({ type: 'tool_call', name }))],
});

describe('comparable messages', () => {
  it('are equal in spite of other ids, names and orders of parallel results', () => {
    const one = [said('user', 'a-1 go'), answered('call_01ARZ3NDEKTSV4RRFFQ69G5FAV x'), answered('y')];
    const other = [said('user', 'b-7 go'), answered('y'), answered('call_01BX5ZZKBKACTAV9WEVGEMMVRZ x')];

    expect(comparable(one, 'a-1')).toEqual(comparable(other, 'b-7'));
  });

  it('differ by a word, and by an additional result', () => {
    const plain = comparable([answered('x')], 'a');

    expect(comparable([answered('z')], 'a')).not.toEqual(plain);
    expect(comparable([answered('x'), answered('x')], 'a')).not.toEqual(plain);
  });

  it('are equal if a reply that was cut off is said again with the calls that it had not made', () => {
    const whole = comparable([called('We go on.', 'first', 'second')], 'a');

    expect(comparable([called('We go on.', 'first'), called('We go on.', 'second')], 'a')).toEqual(whole);
    expect(comparable([called('We go on.', 'first'), called('We go on.', 'first', 'second')], 'a')).not.toEqual(whole);
    expect(comparable([called('We go on.', 'first'), called('We stop.', 'second')], 'a')).not.toEqual(whole);
  });

  it('can leave out tool results', () => {
    expect(withoutAnswers(comparable([said('user', 'x'), answered('y')], 'a'))).toHaveLength(1);
  });

  it('show the place where they differ', () => {
    const line = `user ${'a'.repeat(300)}b`;

    expect(findDifference([line], ['tool x', `user ${'a'.repeat(300)}c`])).toBe(
      `${'a'.repeat(40)}b instead of ${'a'.repeat(40)}c`,
    );
    expect(findDifference([line], [line, line])).toBe('a part too few or too many');
  });
});
