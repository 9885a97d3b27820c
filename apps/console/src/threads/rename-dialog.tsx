import type { Thread } from '@rondo/client';
import { useRondo } from '../session/use-session.ts';
import { TextField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';
import { Modal } from '../ui/modal.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { nameThread } from './thread-title.ts';

interface RenameDialogProps {
  readonly thread: Thread;
  readonly onClose: () => void;
}

/** Asks for the title of a thread. */
export function RenameDialog({ thread, onClose }: RenameDialogProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const rename = async (fields: FormData) => {
    const title = toText(fields, 'title');
    await rondo.threads.update(thread.id, { title: title === '' ? null : title });
    await Promise.all([refreshKey(['threads']), refreshKey(['thread', thread.id])]);
  };
  return (
    <Modal title="Rename this thread" onClose={onClose}>
      {(close) => (
        <Form work={(fields) => rename(fields).then(close)} button="Rename" cancel={close}>
          <TextField
            label="Title"
            name="title"
            maxLength={200}
            autoFocus
            defaultValue={thread.title ?? ''}
            placeholder={nameThread(thread) ?? ''}
            hint="Empty: the first words of what was asked."
          />
        </Form>
      )}
    </Modal>
  );
}
