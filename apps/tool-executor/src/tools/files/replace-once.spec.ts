import fc from 'fast-check';
import { replaceOnce } from './replace-once';

const replace = (content: string, oldText: string, newText: string) => {
  const replaced = replaceOnce(Buffer.from(content), oldText, newText);
  return replaced.found === 'once' ? { ...replaced, content: replaced.content.toString() } : replaced;
};

describe('replaceOnce', () => {
  it('replaces the only occurrence and shows the lines around it', () => {
    expect(replace('a\nb\nc\nd\ne\nf\ng\nh\n', 'e\n', 'E\nE2\n')).toEqual({
      found: 'once',
      content: 'a\nb\nc\nd\nE\nE2\nf\ng\nh\n',
      snippet: '    2  b\n    3  c\n    4  d\n    5  E\n    6  E2\n    7  f\n    8  g\n    9  h\n   10  ',
    });
  });

  it('distinguishes tabs from spaces and keeps carriage returns', () => {
    expect(replace('\tx\r\n', '        x', 'y')).toEqual({ found: 'nowhere' });
    expect(replace('\tx\r\ny', '\tx', '\tz')).toMatchObject({ content: '\tz\r\ny' });
  });

  it('keeps CRLF where all lines of a file end so, whatever the model writes', () => {
    expect(replace('a\r\nb\r\nc\r\n', 'a\nb', 'A\nB')).toMatchObject({ content: 'A\r\nB\r\nc\r\n' });
    expect(replace('a\r\nb\r\nc\r\n', 'b', 'b\nb2')).toMatchObject({ content: 'a\r\nb\r\nb2\r\nc\r\n' });
    expect(replace('a\r\nb\r\n', 'a\r\nb', 'x\r\ny')).toMatchObject({ content: 'x\r\ny\r\n' });
    expect(replace('a\r\nb\r\n', '\nb', '\nc')).toMatchObject({ content: 'a\r\nc\r\n' });
    expect(replace('a\r\nb\r\n', '\nb', '')).toMatchObject({ content: 'a\r\n' });
    expect(replace('a\r\nb\nc\r\n', 'a\nb', 'x')).toEqual({ found: 'nowhere' });
    expect(replace('a\r\nb\nc\r\n', 'c', 'c\nd')).toMatchObject({ content: 'a\r\nb\nc\nd\r\n' });
  });

  it('treats patterns and replacement marks as plain text', () => {
    expect(replace('a.*b', '.*', '$& $1 \\n')).toMatchObject({ content: 'a$& $1 \\nb' });
  });

  it('names the lines of several occurrences, also of overlapping ones', () => {
    expect(replace('x\ny\nx\n', 'x', 'z')).toEqual({ found: 'several', lines: [1, 3] });
    expect(replace('aaa', 'aa', 'b')).toEqual({ found: 'several', lines: [1, 1] });
  });

  it('leaves bytes that are not text alone', () => {
    const replaced = replaceOnce(Buffer.from([0xff, 0x61, 0x00, 0xfe]), 'a', 'b');

    expect(replaced).toMatchObject({ found: 'once', content: Buffer.from([0xff, 0x62, 0x00, 0xfe]) });
  });

  it('changes that occurrence and nothing else', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', 'b', '\n') });
    fc.assert(
      fc.property(piece, piece, fc.string(), (before, after, newText) => {
        expect(replace(`${before}OLD${after}`, 'OLD', newText)).toMatchObject({
          content: `${before}${newText}${after}`,
        });
      }),
    );
  });
});
