import { type ReactNode, useEffect, useId, useRef } from 'react';

interface ModalProps {
  readonly title: string;
  /** The dialog was closed, by whichever way. */
  readonly onClose: () => void;
  /** Gets what closes the dialog, and gives the focus back to where it was. */
  readonly children: (close: () => void) => ReactNode;
}

/** A dialog that is open as long as it is part of the page. */
export function Modal({ title, onClose, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);
  return (
    <dialog ref={dialog} className="modal" aria-labelledby={heading} onClose={onClose}>
      <h2 id={heading}>{title}</h2>
      {children(() => dialog.current?.close())}
    </dialog>
  );
}
