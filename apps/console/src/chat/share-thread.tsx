import type { Thread } from '@rondo/client';
import { useState } from 'react';
import { gatewayUrl } from '../gateway-url.ts';
import { useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Modal } from '../ui/modal.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { toSharedPath } from './shared-path.ts';

/** Makes the thread readable for everyone who has its link, and ends that. */
export function ShareThread({ thread }: { readonly thread: Thread }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button onClick={() => setOpen(true)}>{thread.is_public ? 'Shared' : 'Share'}</button>
      {isOpen && (
        <Modal title="Share this thread" onClose={() => setOpen(false)}>
          {(close) => (
            <>
              <Sharing thread={thread} />
              <div className="actions">
                <button onClick={close}>Close</button>
              </div>
            </>
          )}
        </Modal>
      )}
    </>
  );
}

function Sharing({ thread: { id, is_public: isPublic } }: { readonly thread: Thread }) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const change = async (isShared: boolean) => {
    await rondo.threads.update(id, { is_public: isShared });
    await refreshKey(['thread', id]);
  };
  const link = `${gatewayUrl()}${toSharedPath(id)}`;
  return (
    <>
      <p>
        Everyone who has the link can read the conversation without a key, as it goes on: what was asked and answered,
        and what tools were told and printed. Files, pictures of the browser, settings and costs are not shown, and
        nothing can be changed.
      </p>
      {isPublic && (
        <p className="share-link">
          <a href={link} target="_blank" rel="noopener">
            {link}
          </a>
          <CopyButton text={link} what="the link" />
        </p>
      )}
      <div className="actions">
        {isPublic ? (
          <Action className="danger" work={() => change(false)}>
            Stop sharing
          </Action>
        ) : (
          <Action className="primary" work={() => change(true)}>
            Share with a link
          </Action>
        )}
      </div>
    </>
  );
}
