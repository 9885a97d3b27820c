import type { Attachments } from '@rondo/react';
import { type ChangeEvent, useRef } from 'react';
import { bytes } from '../ui/amounts.ts';
import { problemText } from '../ui/problem-text.ts';

export function AttachmentList({ attachments }: { readonly attachments: Attachments }) {
  if (attachments.all.length === 0) return null;
  return (
    <ul className="attachments" aria-label="Files of this message">
      {attachments.all.map((attachment) => (
        <li key={attachment.key}>
          <span className="attachment-name">{attachment.name}</span>
          <span className="hint">
            {attachment.id === null && attachment.problem === null ? 'uploading …' : bytes(attachment.size)}
          </span>
          {attachment.problem !== null && <span className="problem">{problemText(attachment.problem)}</span>}
          <button
            type="button"
            className="quiet"
            aria-label={`Remove ${attachment.name}`}
            onClick={() => attachments.remove(attachment)}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Opens the browser's own choice of files. */
export function AttachButton({ attachments }: { readonly attachments: Attachments }) {
  const field = useRef<HTMLInputElement>(null);
  const take = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    attachments.add(currentTarget.files ?? []);
    currentTarget.value = '';
  };
  return (
    <>
      <input ref={field} type="file" multiple hidden aria-label="Files to attach" onChange={take} />
      <button type="button" onClick={() => field.current?.click()}>
        Attach files
      </button>
    </>
  );
}
