import { useBlocker } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Modal } from './modal.tsx';

const drafts = new Set<object>();

/** While it is true, something is written on the page that is stored nowhere: who leaves the page is asked first. */
export function useUnsaved(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return;
    const draft = {};
    drafts.add(draft);
    return () => void drafts.delete(draft);
  }, [isUnsaved]);
}

const hasUnsaved = (): boolean => drafts.size > 0;

interface Place {
  readonly pathname: string;
  readonly search: object;
}

/** What is written is about the file or entry in the address. Whatever else is there changes only what is shown beside it. */
const toPlace = ({ pathname, search }: Place): string =>
  JSON.stringify([pathname, 'path' in search && search.path, 'version' in search && search.version]);

/** Asks before a page is left with what was written on it. The browser asks where its tab is closed or loaded again. */
export function LeaveGuard() {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => hasUnsaved() && toPlace(current) !== toPlace(next),
    enableBeforeUnload: hasUnsaved,
    withResolver: true,
  });
  if (status !== 'blocked') return null;
  return (
    <Modal title="Leave this page?" onClose={reset}>
      {(close) => (
        <>
          <p>What you have written here is not saved, and is lost when you leave.</p>
          <div className="actions">
            <button className="danger" onClick={proceed}>
              Leave
            </button>
            <button autoFocus onClick={close}>
              Stay
            </button>
          </div>
        </>
      )}
    </Modal>
  );
}
