import { type Color, createAnsiSequenceParser, createColorPalette } from 'ansi-sequence-parser';
import type { CSSProperties, ReactNode } from 'react';

const palette = createColorPalette();

interface AnsiTextProps {
  /** With sequences for colours and no others, as `colouredText` gives it. */
  readonly text: string;
  /** What comes before it and is not shown, whose colours go on. */
  readonly after?: string;
}

/** Text of a terminal in its colours. Their lightness is that of the theme, so that any of them can be read. */
export function AnsiText({ text, after = '' }: AnsiTextProps): ReactNode {
  if (!text.includes('\u001b') && !after.includes('\u001b')) return text;
  const parser = createAnsiSequenceParser();
  parser.parse(withResets(after));
  return parser.parse(withResets(text)).map(({ value, foreground, background, decorations }, index) => {
    const isReversed = decorations.has('reverse');
    const [ink, paper] = isReversed ? [background, foreground] : [foreground, background];
    const names = [
      ...(ink ? ['ansi-ink'] : []),
      ...(paper || isReversed ? ['ansi-paper'] : []),
      ...[...decorations].map((name) => `ansi-${name}`),
    ];
    return names.length === 0 ? (
      value
    ) : (
      <span key={index} className={names.join(' ')} style={readStyle(ink, paper)}>
        {value}
      </span>
    );
  });
}

/** `ESC[m` is short for `ESC[0m`, which the parser does not know. */
const withResets = (text: string): string => text.replaceAll('\u001b[m', '\u001b[0m');

function readStyle(ink: Color | null, paper: Color | null): CSSProperties {
  const style: Record<`--${string}`, string> = {
    ...(ink && { '--ansi-ink': palette.value(ink) }),
    ...(paper && { '--ansi-paper': palette.value(paper) }),
  };
  return style;
}
