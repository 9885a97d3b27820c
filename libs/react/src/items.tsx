import {
  type CallApproval,
  type MessageRow,
  type NoteRow,
  type Rondo,
  type ToolCallRow,
  describeEnding,
} from '@rondo/client';
import { type ComponentType, type ReactNode, memo, useEffect, useState } from 'react';
import { describeAction, summarizeActions } from './actions.ts';
import type { ChatItem } from './chat-items.ts';
import { describeNote, nameCaller } from './describe-note.ts';
import { isNoteToAgent } from './edited-turns.ts';
import { plainText } from './plain-text.ts';

export interface PartProps {
  /** What a person or an agent has said. */
  readonly Text: { readonly text: string };
  /** A call that failed, whose outcome is unknown, or about which a person decides. */
  readonly ToolCall: { readonly row: ToolCallRow };
  /** Calls that went well, or go on, and thoughts between them. */
  readonly Work: { readonly rows: readonly (ToolCallRow | MessageRow)[] };
  /** Something that the run did beside messages and calls. A chat shows nothing of it unless this part is given. */
  readonly Note: { readonly row: NoteRow };
}

/** Components in the place of the plain ones: `Text` for example renders Markdown. */
export type ItemParts = { readonly [Name in keyof PartProps]?: ComponentType<PartProps[Name]> };

interface ItemListProps {
  readonly rondo: Rondo;
  readonly items: readonly ChatItem[];
  readonly parts?: ItemParts | undefined;
  /** The name of the list, for readers of screens. Default: `Conversation`. */
  readonly label?: string;
}

/** What was said and done, one below the other, as plain elements with class names. */
export function ItemList({ rondo, items, parts = {}, label = 'Conversation' }: ItemListProps) {
  return (
    <div className="rondo-items" role="log" aria-label={label}>
      {items.map((item) => (
        <Item key={item.key} rondo={rondo} item={item} parts={parts} />
      ))}
    </div>
  );
}

interface ItemProps {
  readonly rondo: Rondo;
  readonly item: ChatItem;
  readonly parts: ItemParts;
}

function Item({ rondo, item, parts }: ItemProps): ReactNode {
  const { Text = PlainText, ToolCall = PlainCall, Work = PlainWork, Note } = parts;
  switch (item.kind) {
    case 'message':
      return <Message rondo={rondo} row={item.row} Text={Text} />;
    case 'speech':
      return <Speech text={item.spoken.text} Text={Text} />;
    case 'link':
      return (
        <Article by="assistant">
          <SafeLink url={item.link.url} name={item.link.name} />
        </Article>
      );
    case 'work':
      return <Work rows={item.rows} />;
    case 'call':
      return <ToolCall row={item.row} />;
    case 'note':
      return Note ? <Note row={item.row} /> : null;
    case 'ending':
      return <p className="rondo-ending">{describeEnding(item.run)?.sentence}</p>;
  }
}

const authors = { user: 'You', assistant: 'Agent', other: 'Note' } as const;

function Article({ by, children }: { readonly by: keyof typeof authors; readonly children: ReactNode }) {
  return (
    <article className={`rondo-message rondo-by-${by}`} aria-label={authors[by]} dir="auto">
      {children}
    </article>
  );
}

interface MessageProps {
  readonly rondo: Rondo;
  readonly row: MessageRow;
  readonly Text: ComponentType<PartProps['Text']>;
}

/** Kept while it is the same: otherwise each piece of a reply would render the whole conversation before it. */
const Message = memo(function Message({ rondo, row, Text }: MessageProps) {
  const { role, text, reasoning, isOpen, message } = row;
  const isVoice = (role === 'user' && !isNoteToAgent(message)) || role === 'assistant';
  const pictures = (message?.content ?? []).flatMap((block) =>
    block.type === 'image' && block.source.type === 'blob' ? block.source.sha256 : [],
  );
  return (
    <Article by={isVoice ? role : 'other'}>
      {reasoning !== '' && (
        <details className="rondo-reasoning" open={isOpen && text === ''}>
          <summary>Thoughts</summary>
          <PlainText text={reasoning} />
        </details>
      )}
      {text !== '' && <Text text={text} />}
      {pictures.map((sha256) => (
        <Picture key={sha256} rondo={rondo} sha256={sha256} />
      ))}
    </Article>
  );
});

/** What an agent says with a call. */
const Speech = memo(function Speech({ text, Text }: PartProps['Text'] & Pick<MessageProps, 'Text'>) {
  return (
    <Article by="assistant">
      <Text text={text} />
    </Article>
  );
});

const PlainText = ({ text }: PartProps['Text']) => <p className="rondo-text">{plainText(text)}</p>;

/** Only addresses of the web: an agent may have written anything. */
function SafeLink({ url, name }: { readonly url: string; readonly name: string }) {
  if (!/^https?:\/\//i.test(url)) return <PlainText text={url} />;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {plainText(name)}
    </a>
  );
}

function PlainWork({ rows }: PartProps['Work']) {
  const calls = rows.filter((row) => row.kind === 'tool_call');
  const newest = calls.at(-1);
  const isOnly = calls.length === 1 && newest;
  return (
    <details className="rondo-work">
      <summary>{isOnly ? toSentence(newest) : calls.length === 0 ? 'Thoughts' : summarizeActions(calls)}</summary>
      <ul>
        {rows.map((row) => (
          <li key={row.id}>{row.kind === 'message' ? plainText(row.reasoning) : toSentence(row)}</li>
        ))}
      </ul>
    </details>
  );
}

function PlainCall({ row }: PartProps['ToolCall']) {
  return (
    <article
      className={`rondo-call rondo-${row.status} ${row.programCallId === null ? '' : 'rondo-of-program'}`}
      aria-label={row.name}
    >
      <p>{toSentence(row)}</p>
      {row.approval && <p className="rondo-decision">{describeDecision(row.approval)}</p>}
      {row.result?.error !== undefined && <p className="rondo-problem">{plainText(row.result.error)}</p>}
      {row.reason !== null && <p className="rondo-problem">{plainText(row.reason)}</p>}
      {row.output !== '' && <pre tabIndex={0}>{plainText(row.output)}</pre>}
    </article>
  );
}

/** What was decided about a call. */
export const decisions: Record<NonNullable<CallApproval['decision']>['outcome'], string> = {
  approve: 'Approved',
  edit: 'Approved with changed arguments',
  deny: 'Denied',
  expire: 'Not approved in time',
};

function describeDecision({ decision }: CallApproval): string {
  if (!decision) return 'A person decides about it.';
  const { outcome, decidedBy, reason } = decision;
  const by = decidedBy === null ? '' : ` ${nameCaller(decidedBy)}`;
  return `${decisions[outcome]}${by}${reason === null ? '.' : `: ${plainText(reason)}`}`;
}

export const PlainNote = ({ row }: PartProps['Note']) => (
  <p className="rondo-note">{plainText(describeNote(row.fact))}</p>
);

function toSentence(row: ToolCallRow): string {
  const { verb, object } = describeAction(row);
  return object === '' ? verb : `${verb} ${object}`;
}

/** An image that Rondo keeps. It is fetched with the key, because an address alone does not say who asks. */
function Picture({ rondo, sha256 }: { readonly rondo: Rondo; readonly sha256: string }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const reading = new AbortController();
    let made: string | undefined;
    const read = async () => {
      const blob = await (await rondo.blob(sha256, { signal: reading.signal })).blob();
      if (reading.signal.aborted || !blob.type.startsWith('image/')) return;
      made = URL.createObjectURL(blob);
      setUrl(made);
    };
    read().catch(() => undefined); // the place of the picture stays empty
    return () => {
      reading.abort();
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [rondo, sha256]);
  return url === null ? null : <img className="rondo-picture" src={url} alt="Picture of the message" />;
}
