import { likeness, withoutAnswers } from './conversation';

const said = (type: string, text: string) => ({ run_id: null, type, content: [{ type: 'text', text }] });

describe('likeness', () => {
  it('does not see ids, names, and the order in which parallel calls were answered', () => {
    const one = [said('user', 'a-1 go'), said('tool', 'call_01ARZ3NDEKTSV4RRFFQ69G5FAV x'), said('tool', 'y')];
    const other = [said('user', 'b-7 go'), said('tool', 'y'), said('tool', 'call_01BX5ZZKBKACTAV9WEVGEMMVRZ x')];

    expect(likeness(one, 'a-1')).toEqual(likeness(other, 'b-7'));
  });

  it('sees another word, and an answer too many', () => {
    const plain = likeness([said('tool', 'x')], 'a');

    expect(likeness([said('tool', 'z')], 'a')).not.toEqual(plain);
    expect(likeness([said('tool', 'x'), said('tool', 'x')], 'a')).not.toEqual(plain);
  });

  it('can leave out what tools answered', () => {
    expect(withoutAnswers(likeness([said('user', 'x'), said('tool', 'y')], 'a'))).toHaveLength(1);
  });
});
