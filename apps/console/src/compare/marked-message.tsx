import type { MessageRow } from '@rondo/client';
import { memo, useMemo } from 'react';
import { wordDiff } from '../diff/word-diff.ts';
import { authors } from '../run/message-item.tsx';
import { plainText } from '../ui/plain-text.ts';

interface MarkedMessageProps {
  readonly row: MessageRow;
  /** What its counterpart says. */
  readonly other: string;
}

/** A message as the model wrote it, with the words marked that its counterpart does not have. */
export const MarkedMessage = memo(function MarkedMessage({ row: { role, text }, other }: MarkedMessageProps) {
  const pieces = useMemo(() => wordDiff(text, other).before, [text, other]);
  return (
    <article className={`message ${role}`} aria-label={authors[role]}>
      {role !== 'assistant' && <p className="author">{authors[role]}</p>}
      <p className="marked-words">
        {pieces.map((piece, index) =>
          piece.isOwn ? <mark key={index}>{plainText(piece.text)}</mark> : plainText(piece.text),
        )}
      </p>
    </article>
  );
});
