import { Marked, type Tokens } from 'marked';
import { renderToStaticMarkup } from 'react-dom/server';
import { Markdown } from './markdown';
import { mathTokens } from './math-tokens';

const html = (text: string) => renderToStaticMarkup(<Markdown text={text} />);

describe('Markdown of a model', () => {
  it('shows HTML as it was written', () => {
    expect(html('<img src=x onerror=alert(1)>\n\nA <b>word</b>.')).not.toMatch(/<(img|b)\b/);
    expect(html('<img src=x onerror=alert(1)>')).toContain('&lt;img src=x');
  });

  it.each(['javascript:alert(1)', 'JaVaScript:alert(1)', 'data:text/html,x', 'vbscript:x', '/relative', '//host'])(
    'makes no link of %s',
    (address) => {
      expect(html(`[text](${address}) <${address}>`)).not.toContain('<a ');
    },
  );

  it('opens a link without telling who follows it', () => {
    expect(html('[text](https://example.com/a)')).toContain('rel="noopener noreferrer nofollow"');
  });

  it('loads no picture from elsewhere', () => {
    expect(html('![a cat](https://example.com/cat.png)')).toContain('picture: a cat');
    expect(html('![a cat](https://example.com/cat.png)')).not.toContain('<img');
  });

  it('renders code while it is written, without its fence', () => {
    expect(html('```js\nconst a = 1;\n')).toContain('<code>const a = 1;\n</code>');
    expect(html('- [x] done\n\n| a |\n|---|\n| 1 |')).toContain('<td>1</td>');
    expect(html('| a |\n|---:|\n| 1 |')).toContain('<td style="text-align:right">1</td>');
  });

  it('knows that code has ended, also at the very end of a text', () => {
    expect(html('```js\nconst a = 1;\n```')).toContain('aria-label="Code, js"');
    expect(html('```js\nconst a = 1;\n```')).not.toContain('`');
  });

  it('shows which entries of a list of tasks are done', () => {
    expect(html('- [x] a\n- [ ] b')).toMatch(/checkbox"[^>]*aria-label="Done" checked=""\/>a.*aria-label="Open"\/>b/);
  });

  it('keeps the lines of an answer apart', () => {
    expect(html('1\n2\nFizz')).toContain('1<br/>2<br/>Fizz');
  });

  it.each(['It costs $5 and $10.', 'echo $HOME/$USER', 'US$3, A$4', '$5-$10', 'a \\$ b \\$'])(
    'sees no formula in %s',
    (text) => {
      expect(lexed(text)).not.toContain('math');
    },
  );

  it.each(['$x^2$', '$$\n\\sum_i x_i\n$$', '\\(a+b\\)', '\\[a\\]', 'so $n$, then'])('sees a formula in %s', (text) => {
    expect(lexed(text)).toContain('math');
  });
});

/** The types of the tokens in the paragraph. */
const lexed = (text: string) => {
  const [paragraph] = new Marked({ extensions: [mathTokens] }).lexer(text) as Tokens.Paragraph[];
  return paragraph?.tokens.map(({ type }) => type);
};
