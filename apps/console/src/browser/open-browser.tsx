import { useState } from 'react';
import { useMay } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { Modal } from '../ui/modal.tsx';
import { LiveBrowser } from './live-browser.tsx';

interface OpenBrowserProps {
  readonly threadId: string;
  /** No run is at work, so a person may act. */
  readonly isFree: boolean;
  /** Tells the run that waits for it that the person is done. */
  readonly done?: () => Promise<unknown>;
}

/** The way into the agent's browser: to operate it, or only to watch. */
export function OpenBrowser({ threadId, isFree, done }: OpenBrowserProps) {
  const [isOpen, setOpen] = useState(false);
  const mayAct = useMay('write') && isFree;
  return (
    <>
      <button onClick={() => setOpen(true)}>{mayAct ? 'Operate the browser' : 'Watch the browser'}</button>
      {isOpen && (
        <Modal title="The agent's browser" onClose={() => setOpen(false)}>
          {(close) => (
            <>
              <LiveBrowser threadId={threadId} mayAct={mayAct} />
              <div className="actions">
                {mayAct && done && (
                  <Action className="primary" work={() => done().then(close)}>
                    Done, go on
                  </Action>
                )}
                <button onClick={close}>Close</button>
              </div>
            </>
          )}
        </Modal>
      )}
    </>
  );
}
