import type { BrowserAction, BrowserScreen } from '@rondo/client';
import { type SubmitEvent, useId, useState } from 'react';

interface AddressBarProps {
  readonly screen: BrowserScreen;
  /** Absent for those who watch. */
  readonly act: ((action: BrowserAction) => void) | undefined;
}

/** Where the browser is, and the ways to somewhere else: an address, back, another tab. */
export function AddressBar({ screen, act }: AddressBarProps) {
  const [written, write] = useState<string | null>(null);
  const field = useId();
  const tabs = useId();
  const open = (event: SubmitEvent) => {
    event.preventDefault();
    if (written !== null && written.trim() !== '') act?.({ type: 'navigate', url: written.trim() });
    write(null);
  };
  return (
    <form className="address-bar" onSubmit={open}>
      <button type="button" disabled={!act} onClick={() => act?.({ type: 'back' })}>
        Back
      </button>
      <label htmlFor={field} className="unseen">
        Address
      </label>
      <input
        dir="auto"
        id={field}
        value={written ?? screen.url}
        readOnly={!act}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => write(event.currentTarget.value)}
      />
      {act && <button disabled={written === null}>Open</button>}
      {act && screen.tabs.length > 1 && (
        <>
          <label htmlFor={tabs} className="unseen">
            Tab
          </label>
          <select
            id={tabs}
            value={screen.tabs.find((tab) => tab.is_active)?.page_id}
            onChange={(event) => act({ type: 'tab', page_id: Number(event.currentTarget.value) })}
          >
            {screen.tabs.map(({ page_id: id, title }) => (
              <option key={id} value={id}>
                {id}: {title === '' ? 'no title' : title}
              </option>
            ))}
          </select>
        </>
      )}
    </form>
  );
}
