import type { ToolCallRow } from '@rondo/client';
import { type PublishedLink, type SpokenText, plainText } from '@rondo/react';
import { memo } from 'react';
import { Markdown } from '../markdown/markdown.tsx';
import { safeLink } from '../markdown/safe-link.ts';
import { Action } from '../ui/action.tsx';
import { FileCards } from '../run/file-cards.tsx';
import { useChatPanel } from './use-chat-panel.ts';

/** What the agent says to the person, in whichever call. */
export const SpeechItem = memo(function SpeechItem({ spoken }: { readonly spoken: SpokenText }) {
  return (
    <article className="message by-assistant" aria-label="Agent">
      <Markdown text={spoken.text} />
      <FileCards paths={spoken.attachments} />
    </article>
  );
});

interface FollowUpsProps {
  readonly prompts: readonly string[];
  readonly ask: (text: string) => Promise<unknown>;
}

/** What the agent proposes to ask next. */
export function FollowUps({ prompts, ask }: FollowUpsProps) {
  return (
    <div className="follow-ups" role="group" aria-label="What to ask next">
      {prompts.map((text) => (
        <Action key={text} work={() => ask(text)}>
          <span dir="auto">{plainText(text)}</span>
        </Action>
      ))}
    </div>
  );
}

interface LinkCardProps {
  readonly row: ToolCallRow;
  readonly link: PublishedLink;
}

/** A site or a server that the agent has made reachable. */
export function LinkCard({ row, link: { url, name } }: LinkCardProps) {
  const { show } = useChatPanel();
  const address = safeLink(url);
  return (
    <article className="link-card" aria-label={`Published: ${plainText(name)}`}>
      <span>
        <strong dir="auto">{plainText(name)}</strong>
        <span className="hint">{plainText(url)}</span>
      </span>
      {address !== undefined && (
        <a className="button" href={address} target="_blank" rel="noopener noreferrer">
          Open
        </a>
      )}
      <button className="quiet" onClick={() => show({ call: row.id })}>
        Details
      </button>
    </article>
  );
}
