import type { RunRow, MessageRow } from '@rondo/client';
import { memo, useMemo } from 'react';
import { MessageItem, toVoice } from '../run/message-item.tsx';
import { NoteItem } from '../run/note-item.tsx';
import type { Iteration } from '../run/run-details.ts';
import { ToolCallItem } from '../run/tool-call-item.tsx';
import { cost, count } from '../ui/amounts.ts';
import type { AlignedIteration } from './aligned-iterations.ts';
import { type PairedTexts, pairTexts } from './paired-texts.ts';
import { plainText } from '@rondo/react';
import { wordDiff } from '../diff/word-diff.ts';

const words: Record<AlignedIteration['difference'], string> = {
  same: 'the same',
  calls: 'other calls',
  words: 'other words',
  'only a': 'only A has it',
  'only b': 'only B has it',
};

interface AlignedProps {
  readonly iteration: AlignedIteration;
  /** Whether words that differ are marked; else messages look as in their runs. */
  readonly areMarked: boolean;
  readonly a: Iteration | undefined;
  readonly b: Iteration | undefined;
}

/** What both runs did in one iteration. */
export function Aligned({ iteration: { number, difference, a: rowsA, b: rowsB }, areMarked, a, b }: AlignedProps) {
  const texts = useMemo(
    () => (areMarked ? { a: pairTexts(rowsA, rowsB), b: pairTexts(rowsB, rowsA) } : undefined),
    [rowsA, rowsB, areMarked],
  );
  const name = number === 0 ? 'Before the first iteration' : `Iteration ${number}`;
  return (
    <section className="aligned" aria-label={name}>
      <header>
        <h2>{name}</h2>
        <span className={`tag ${difference === 'same' ? '' : 'differs'}`}>{words[difference]}</span>
      </header>
      <Column name="A" rows={rowsA} iteration={a} others={texts?.a} />
      <Column name="B" rows={rowsB} iteration={b} others={texts?.b} />
    </section>
  );
}

interface ColumnProps {
  readonly name: string;
  readonly rows: readonly RunRow[];
  readonly iteration: Iteration | undefined;
  readonly others: PairedTexts | undefined;
}

const Column = memo(function Column({ name, rows, iteration, others }: ColumnProps) {
  return (
    <div className="aligned-column">
      <p className="hint">
        {name}
        {iteration &&
          ` · ${count(iteration.inputTokens)} in, ${count(iteration.outputTokens)} out · ${cost(iteration.costUsd)}`}
      </p>
      {rows.map((row) => (
        <Row key={row.id} row={row} other={others?.get(row.id)} />
      ))}
    </div>
  );
});

function Row({ row, other }: { readonly row: RunRow; readonly other: string | undefined }) {
  if (row.kind === 'message' && other !== undefined) return <MarkedMessage row={row} other={other} />;
  if (row.kind === 'message') return <MessageItem row={row} />;
  return row.kind === 'tool_call' ? <ToolCallItem row={row} sentAt={undefined} /> : <NoteItem row={row} />;
}

interface MarkedMessageProps {
  readonly row: MessageRow;
  /** What its counterpart says. */
  readonly other: string;
}

/** A message as the model wrote it, with the words marked that its counterpart does not have. */
const MarkedMessage = memo(function MarkedMessage({ row, other }: MarkedMessageProps) {
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
