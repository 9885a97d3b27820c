import { shortDiff } from './difference';

describe('a short difference', () => {
  it('has only the lines that differ', () => {
    expect(shortDiff('one\ntwo\nthree', 'one\n2\nthree')).toEqual(['- two', '+ 2']);
  });

  it('has only what one text has more', () => {
    expect(shortDiff('one\nthree', 'one\ntwo\nthree')).toEqual(['+ two']);
    expect(shortDiff('one', '')).toEqual(['- one']);
  });

  it('shows of a long line the part around its first difference', () => {
    const [removed = '', added = ''] = shortDiff(
      `${'a'.repeat(500)}X${'b'.repeat(500)}`,
      `${'a'.repeat(500)}Y${'b'.repeat(500)}`,
    );

    expect(removed).toMatch(/^- …a+Xb+…$/);
    expect(added).toMatch(/^\+ …a+Yb+…$/);
    expect(removed.length).toBeLessThan(200);
  });

  it('counts the lines that it leaves out', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`).join('\n');

    expect(shortDiff('', lines).at(-1)).toBe('+ … 16 more lines');
  });
});
