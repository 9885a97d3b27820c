import { TerminalText } from './terminal-text';

function shown(pieces: readonly string[], kept = 1_000): string {
  const text = new TerminalText(kept);
  for (const piece of pieces) text.push(piece);
  return text.result.output;
}

describe('TerminalText', () => {
  it('shows the last frame of each line, and what stands between them', () => {
    const bar = Array.from({ length: 3_000 }, (_, at) => `\r[====] ${at + 1}/3000`).join('');

    expect(shown([bar, '\n', 'ERROR: the real message\n', bar, '\ndone\n'])).toBe(
      '[====] 3000/3000\nERROR: the real message\n[====] 3000/3000\ndone\n',
    );
  });

  it('shows no escapes, also where they come in two pieces', () => {
    expect(shown(['\u001b]0;title\u0007\u001b[3', '1mred\u001b[0m\n\u001b[2Kx\u001b[1A\n'])).toBe('red\nx\n');
  });

  it('leaves text without frames as it is', () => {
    expect(shown(['a\tb\n\n  c', ' ü'])).toBe('a\tb\n\n  c ü');
    expect(shown(['a\r\nb\r\n'])).toBe('a\nb\n');
  });

  it('keeps the start and the end of what is too long, and says so', () => {
    const text = shown(Array.from({ length: 1_000 }, (_, at) => `line ${at}\n`));

    expect(text.startsWith('line 0\n')).toBe(true);
    expect(text.endsWith('line 999\n')).toBe(true);
    expect(text).toContain('characters left out');
    expect(text.length).toBeLessThan(1_700);
  });

  it('takes no longer for a piece of a line that is long already', () => {
    const text = new TerminalText(1_000);

    for (let piece = 0; piece < 40_000; piece += 1) text.push('x'.repeat(100));

    expect(text.result.output).toHaveLength(4_000_000);
  });
});
