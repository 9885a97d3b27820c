import { findRange } from './site-server';

describe('findRange', () => {
  it.each<[string | undefined, ReturnType<typeof findRange>]>([
    ['bytes=0-0', { first: 0, last: 0 }],
    ['bytes=2-5', { first: 2, last: 5 }],
    ['bytes=7-', { first: 7, last: 9 }],
    ['bytes=7-500', { first: 7, last: 9 }],
    ['bytes=-3', { first: 7, last: 9 }],
    ['bytes=-500', { first: 0, last: 9 }],
    [`bytes=0-${'9'.repeat(400)}`, { first: 0, last: 9 }],
    ['bytes=10-', 'unsatisfiable'],
    [`bytes=${'9'.repeat(400)}-`, 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    [undefined, undefined],
    ['', undefined],
    ['bytes=-', undefined],
    ['bytes=5-2', undefined],
    ['bytes=0-1,3-4', undefined],
    ['bytes=0x1-2', undefined],
    ['lines=1-2', undefined],
    ['bytes=1-2; drop', undefined],
  ])('%s of ten bytes', (header, range) => {
    expect(findRange(header, 10)).toEqual(range);
  });

  it('finds no part in an empty file', () => {
    expect(['bytes=0-', 'bytes=-1', 'bytes=0-0'].map((header) => findRange(header, 0))).toEqual([
      'unsatisfiable',
      'unsatisfiable',
      'unsatisfiable',
    ]);
  });
});
