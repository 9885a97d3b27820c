import type { MessageRow } from '@rondo/client';
import { plainText } from '@rondo/react';
import { memo, useMemo } from 'react';
import { wordDiff } from '../diff/word-diff.ts';
import { toVoice } from '../run/message-item.tsx';

interface MarkedMessageProps {
  readonly row: MessageRow;
  /** What its counterpart says. */
  readonly other: string;
}

/** A message as the model wrote it, with the words marked that its counterpart does not have. */
export const MarkedMessage = memo(function MarkedMessage({ row, other }: MarkedMessageProps) {
  const { author, style } = toVoice(row);
  const pieces = useMemo(() => wordDiff(row.text, other).before, [row.text, other]);
  return (
    <article className={`message by-${style}`} aria-label={author}>
      {style !== 'assistant' && <p className="author">{author}</p>}
      <p className="marked-words">
        {pieces.map((piece, index) =>
          piece.isOwn ? <mark key={index}>{plainText(piece.text)}</mark> : plainText(piece.text),
        )}
      </p>
    </article>
  );
});
