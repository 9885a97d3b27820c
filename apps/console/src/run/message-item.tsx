import type { Message, MessageRow } from '@rondo/client';
import { memo } from 'react';
import { Markdown } from '../markdown/markdown.tsx';
import { BlobImage } from './blob-image.tsx';
import { FormerWords } from './former-words.tsx';
import { useTimelineLinks } from './timeline-links.ts';

export const authors: Record<Message['type'], string> = {
  user: 'You',
  assistant: 'Agent',
  tool: 'Tool',
  summary: 'Summary of older messages',
  browser_state: 'Browser',
  image_context: 'Picture for the model',
  status: 'Status',
};

export const MessageItem = memo(function MessageItem({ row }: { readonly row: MessageRow }) {
  return (
    <article className={`message ${row.role}`} aria-label={authors[row.role]}>
      {row.role !== 'assistant' && <p className="author">{authors[row.role]}</p>}
      {row.role === 'user' && <EditButton row={row} />}
      {row.reasoning !== '' && (
        <details className="reasoning" open={row.isOpen && row.text === ''}>
          <summary>Thoughts</summary>
          <p>{row.reasoning}</p>
        </details>
      )}
      {row.text !== '' && <Markdown text={row.text} />}
      {row.message?.content.map((block, index) =>
        block.type === 'image' && block.source.type === 'blob' ? (
          <BlobImage key={index} sha256={block.source.sha256} alt="Picture of the message" />
        ) : null,
      )}
      {row.role === 'user' && <FormerWords messageId={row.id} />}
      {row.isOpen && <span className="caret" aria-hidden="true" />}
    </article>
  );
});

/** Only the newest question can be asked anew. */
function EditButton({ row: { id, text } }: { readonly row: MessageRow }) {
  const { editable } = useTimelineLinks();
  if (editable?.messageId !== id) return null;
  return (
    <button className="quiet edit" onClick={() => editable.edit(text)}>
      Edit
    </button>
  );
}
