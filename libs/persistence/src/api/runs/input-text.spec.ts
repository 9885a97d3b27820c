import { inputText } from './input-message';

const text = (words: string) => ({ type: 'text' as const, text: words });

describe('the text of an input', () => {
  it('is that of its blocks of text', () => {
    expect(inputText([text('Read this:'), text('a\nb')])).toBe('Read this:\na\nb');
  });

  it('is none where there is nothing to search', () => {
    expect(inputText([text(' \n')])).toBeUndefined();
    expect(inputText([])).toBeUndefined();
  });
});
