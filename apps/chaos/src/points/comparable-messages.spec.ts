import { comparable, withoutAnswers } from './comparable-messages';

const said = (type: string, text: string) => ({ run_id: null, type, content: [{ type: 'text', text }] });

describe('comparable messages', () => {
  it('are equal in spite of other ids, names and orders of parallel results', () => {
    const one = [said('user', 'a-1 go'), said('tool', 'call_01ARZ3NDEKTSV4RRFFQ69G5FAV x'), said('tool', 'y')];
    const other = [said('user', 'b-7 go'), said('tool', 'y'), said('tool', 'call_01BX5ZZKBKACTAV9WEVGEMMVRZ x')];

    expect(comparable(one, 'a-1')).toEqual(comparable(other, 'b-7'));
  });

  it('differ by a word, and by an additional result', () => {
    const plain = comparable([said('tool', 'x')], 'a');

    expect(comparable([said('tool', 'z')], 'a')).not.toEqual(plain);
    expect(comparable([said('tool', 'x'), said('tool', 'x')], 'a')).not.toEqual(plain);
  });

  it('can leave out tool results', () => {
    expect(withoutAnswers(comparable([said('user', 'x'), said('tool', 'y')], 'a'))).toHaveLength(1);
  });
});
