import type { BrowserAction } from '@rondo/client';
import { type SubmitEvent, useState } from 'react';
import { TextField } from '../ui/fields.tsx';

const keys = ['Tab', 'Enter', 'Backspace', 'Escape', 'ArrowUp', 'ArrowDown'] as const;

/** For those who cannot type on the picture: on a phone, or with a screen reader. */
export function TextForPage({ act }: { readonly act: (action: BrowserAction) => void }) {
  const [text, setText] = useState('');
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    if (text === '') return;
    act({ type: 'text', text });
    setText('');
  };
  return (
    <form className="text-for-page" onSubmit={send}>
      <TextField
        label="Type into the field that has the focus. It is not stored"
        value={text}
        maxLength={4_000}
        spellCheck={false}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <div className="actions" role="group" aria-label="Keys">
        <button disabled={text === ''}>Type</button>
        {keys.map((key) => (
          <button key={key} type="button" onClick={() => act({ type: 'keys', keys: key })}>
            {key.replace('Arrow', '')}
          </button>
        ))}
      </div>
    </form>
  );
}
