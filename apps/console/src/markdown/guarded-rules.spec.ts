import { Marked } from 'marked';
import { guardedRules } from './guarded-rules';

const options = { gfm: true, breaks: true };
const plain = new Marked(options);

it.each([
  ['headings', '# One\n\nTwo\n===\n\nThree\nand more\n   --- \t \n\nFour\n-\n'],
  ['quotes', '> a\n> b\n\n   > c\n\n- x\n  > y\n'],
  ['HTML', '<div>\na\n</div>\n\n   <!-- b -->\n\n<script>\n1\n\n2\n</script>\n'],
  ['tables', 'a | b\n--|--\n1 | 2\n\n| c |\n|:-:|\n| 3 |\n\nText\n|d|\n|-|\n|4|\n'],
  ['definitions', '[a]: https://example.com "A"\n\n[a] and [b].\n\n   [b]: <x y>\n'],
  ['lists and rules', 'Text:\n- one\n- two\n\n***\n\n1. a\n   - b\n\n---\n'],
  ['code', '```\n> a\n| b |\n|---|\n===\n```\n\n    <b>\n'],
])('the rules that are tried less often find the same %s', (_, text) => {
  expect(new Marked(options, guardedRules).lexer(text)).toEqual(plain.lexer(text));
});

it('a text without such blocks does without the large expressions', () => {
  const tried: string[] = [];
  const note = (name: string) => () => {
    tried.push(name);
    return false as const;
  };
  const noted = {
    html: note('html'),
    lheading: note('lheading'),
    table: note('table'),
    blockquote: note('blockquote'),
  };
  new Marked(options, { tokenizer: noted }, guardedRules).lexer(
    'Step **1**: look at `it`.\n\n- one\n- two\n\n## Next\n\nDone.',
  );
  expect(tried).toEqual([]);
});
