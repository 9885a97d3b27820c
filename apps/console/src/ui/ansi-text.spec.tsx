import { colouredText } from '@rondo/react';
import { renderToStaticMarkup } from 'react-dom/server';
import { AnsiText } from './ansi-text';

const escape = '\u001b';
const html = (text: string, after = '') => renderToStaticMarkup(<AnsiText text={colouredText(text)} after={after} />);

describe('text of a terminal', () => {
  it('has its colours, and what ends one', () => {
    expect(html(`a ${escape}[31mred${escape}[m b`)).toBe(
      'a <span class="ansi-ink" style="--ansi-ink:#bb0000">red</span> b',
    );
    expect(html(`${escape}[38;5;208mx${escape}[0m`)).toContain('--ansi-ink:#ff8700');
    expect(html(`${escape}[48;2;1;2;3;1mx`)).toMatch(/ansi-paper ansi-bold.*--ansi-paper/);
  });

  it('goes on in the colour of the lines that are not shown', () => {
    expect(html('still red', `${escape}[31mred\n`)).toContain('--ansi-ink:#bb0000');
  });

  it('has no other sequence, and no HTML of its own', () => {
    expect(html(`${escape}[2J${escape}]0;title\u0007<b>${escape}[1;1Hx`)).toBe('&lt;b&gt;x');
  });

  it('shows nothing of a sequence whose rest has not arrived, or never does', () => {
    const whole = `a${escape}[31mb`;
    const parts = Array.from({ length: whole.length }, (_, end) => html(whole.slice(0, end + 1)));

    expect(parts.slice(0, -1)).toEqual(['a', 'a', 'a', 'a', 'a', 'a']);
    expect(html(`a${escape}[3\nb${escape}`)).toBe('a\nb');
  });
});
