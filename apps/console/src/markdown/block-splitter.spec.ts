import fc from 'fast-check';
import { BlockSplitter } from './block-splitter';

const line = fc.constantFrom('', 'words', '- item', '  more of it', '```js', '```', '~~~~', '# Head', '| a |');
const toText = ({ blocks, rest }: BlockSplitter) => blocks.join('') + rest;

describe('splitting Markdown that grows', () => {
  it('leads to the same blocks in whatever pieces it arrives, and loses nothing', () => {
    fc.assert(
      fc.property(
        fc.array(line).map((lines) => lines.join('\n')),
        fc.array(fc.nat(40)),
        (text, cuts) => {
          const [atOnce, piecewise] = [new BlockSplitter(), new BlockSplitter()];
          atOnce.update(text);
          let length = 0;
          for (const cut of cuts) piecewise.update(text.slice(0, (length += cut)));
          piecewise.update(text);
          expect(toText(atOnce)).toBe(text);
          expect(piecewise.blocks).toEqual(atOnce.blocks);
          expect(piecewise.rest).toBe(atOnce.rest);
        },
      ),
    );
  });

  it('never changes a block that is complete', () => {
    const splitter = new BlockSplitter();
    splitter.update('One.\n\nTwo\n');
    const [first] = splitter.blocks;
    splitter.update('One.\n\nTwo\n\n- a\n\n  of a\n\nThree\n');
    expect(splitter.blocks[0]).toBe(first);
    expect(splitter.blocks.slice(1)).toEqual(['Two\n\n', '- a\n\n  of a\n\n']);
  });

  it('keeps blank lines of code together, also of code that has not ended', () => {
    const splitter = new BlockSplitter();
    splitter.update('See:\n```\na\n\nb\n');
    expect([splitter.blocks, splitter.rest, splitter.isInFence]).toEqual([['See:\n'], '```\na\n\nb\n', true]);
    splitter.update('See:\n```\na\n\nb\n```\n\nEnd\n');
    expect([splitter.rest, splitter.isInFence]).toEqual(['End\n', false]);
  });

  it('begins anew with another text', () => {
    const splitter = new BlockSplitter();
    splitter.update('One.\n\nTwo.\n\nThree.');
    splitter.update('A.\n\nB.');
    expect(toText(splitter)).toBe('A.\n\nB.');
  });

  it('cuts a text without blank lines, so that no addition costs more than a bounded part', () => {
    const splitter = new BlockSplitter();
    let text = '';
    for (let piece = 0; piece < 2_000; piece++) {
      text += 'word '.repeat(10);
      splitter.update(text);
      expect(splitter.rest.length).toBeLessThan(13_000);
    }
    expect(toText(splitter)).toBe(text);
  });
});
