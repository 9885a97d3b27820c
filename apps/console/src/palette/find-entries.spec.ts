import { type Entry, findEntries } from './palette';

const entries: Entry[] = [
  { to: '/runs', name: 'Runs', kind: 'Page' },
  { to: '/threads/new', name: 'New thread', kind: 'Page' },
  { to: '/threads/thr_1', name: 'Paint the shed', kind: 'Thread' },
  { to: '/runs/run_1', name: 'The shed is blue', kind: 'Run' },
];
const found = (words: string) => findEntries(entries, words).map(({ to }) => to);

describe('what a palette finds', () => {
  it('has all of the words, in any order and case', () => {
    expect(found('SHED paint')).toEqual(['/threads/thr_1']);
    expect(found('nowhere')).toEqual([]);
  });

  it('is first what begins with them', () => {
    expect(found('the')).toEqual(['/runs/run_1', '/threads/thr_1']);
  });

  it('can be told by its kind and its id, and is everything without words', () => {
    expect(found('run_1')).toEqual(['/runs/run_1']);
    expect(found('thread shed')).toEqual(['/threads/thr_1']);
    expect(found(' ')).toHaveLength(4);
  });
});
