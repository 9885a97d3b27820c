import type { Message, MessageRow } from '@rondo/client';
import { isNoteToAgent } from '@rondo/react';
import { memo } from 'react';
import { FileCards } from './file-cards.tsx';
import { Markdown } from '../markdown/markdown.tsx';
import { BlobImage } from './blob-image.tsx';
import { useTimelineLinks } from './timeline-links.ts';
import { RunLink } from './run-origin.tsx';

const authors: Record<Message['type'], string> = {
  user: 'You',
  assistant: 'Agent',
  tool: 'Tool',
  summary: 'Summary of older messages',
  browser_state: 'Browser',
  image_context: 'Picture for the model',
  status: 'Status',
};

interface Voice {
  readonly author: string;
  /** How it looks. */
  readonly style: Message['type'];
}

/** Whose words a message has. Not all that the model reads as a person's was said by one. */
export function toVoice({ role, message }: MessageRow): Voice {
  if (isNoteToAgent(message)) return { author: 'Note to the agent', style: 'status' };
  const isTold = message?.metadata['queued_as'] !== undefined;
  return { author: isTold ? `${authors[role]}, while it worked` : authors[role], style: role };
}

export const MessageItem = memo(function MessageItem({ row }: { readonly row: MessageRow }) {
  const { author, style } = toVoice(row);
  const { text, files } = style === 'user' ? splitFiles(row.text) : { text: row.text, files: [] };
  return (
    <article className={`message by-${style}${row.isOpen ? ' open' : ''}`} aria-label={author}>
      {style !== 'assistant' && <p className="author">{author}</p>}
      {row.reasoning !== '' && (
        <details className="reasoning" open={row.isOpen && row.text === ''}>
          <summary>Thoughts</summary>
          <p dir="auto">{row.reasoning}</p>
        </details>
      )}
      {text !== '' && <Markdown text={text} />}
      <FileCards paths={files} />
      {row.message?.content.map((block, index) =>
        block.type === 'image' && block.source.type === 'blob' ? (
          <BlobImage key={index} sha256={block.source.sha256} alt="Picture of the message" />
        ) : null,
      )}
      {style === 'user' && <FormerWords messageId={row.id} />}
      {style === 'user' && <QuestionButtons row={row} />}
      {row.isOpen && row.text === '' && <span className="caret" aria-hidden="true" />}
    </article>
  );
});

/** The files that came with a message: the model reads a line about each. */
function splitFiles(whole: string): { readonly text: string; readonly files: readonly string[] } {
  const line = /^\[Uploaded File: \/workspace\/(.+)\]\n?/gm;
  const files = [...whole.matchAll(line)].map(([, name = '']) => name);
  return { text: files.length === 0 ? whole : whole.replaceAll(line, '').trimEnd(), files };
}

/** Only the newest question can be asked anew. */
function QuestionButtons({ row: { id, text } }: { readonly row: MessageRow }) {
  const { editable } = useTimelineLinks();
  if (editable?.messageId !== id) return null;
  return (
    <div className="edit">
      {editable.retry && (
        <button className="quiet" onClick={editable.retry}>
          Ask again
        </button>
      )}
      <button className="quiet" onClick={() => editable.edit(text)}>
        Edit
      </button>
    </div>
  );
}

/** That a question was edited, and what it said before. */
function FormerWords({ messageId }: { readonly messageId: string }) {
  const former = useTimelineLinks().former.get(messageId) ?? [];
  if (former.length === 0) return null;
  return (
    <details className="former">
      <summary>{former.length === 1 ? 'Edited' : `Edited ${former.length} times`}: what it said before</summary>
      {former.map(({ text, runId }, index) => (
        <div key={index}>
          <Markdown text={text} />
          {runId !== null && (
            <p className="hint">
              What followed is withdrawn from the conversation, and is in <RunLink id={runId} />.
            </p>
          )}
        </div>
      ))}
    </details>
  );
}
