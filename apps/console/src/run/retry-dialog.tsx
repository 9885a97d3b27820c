import type { Run } from '@rondo/client';
import { useId, useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { ModelOptions } from '../ui/run-choice.tsx';
import { TextField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';
import { Modal } from '../ui/modal.tsx';
import { type Files, FilesChoice, toWorkspace } from './files-choice.tsx';

interface RetryDialogProps {
  readonly runId: string;
  /** Whether that run goes on, and is therefore stopped. */
  readonly isActive: boolean;
  readonly onClose: () => void;
  readonly onBegun: (run: Run) => Promise<unknown>;
}

/** Asks what a run was asked once more. */
export function RetryDialog({ runId, isActive, onClose, onBegun }: RetryDialogProps) {
  const rondo = useRondo();
  const list = useId();
  const [files, setFiles] = useState<Files>('otherwise');
  const retry = async (fields: FormData) => {
    const model = toText(fields, 'model');
    const run = await rondo.runs.retry(runId, { ...(model !== '' && { model }), ...toWorkspace(files) });
    onClose();
    await onBegun(run);
  };
  return (
    <Modal title="Ask again" onClose={onClose}>
      {(close) => (
        <>
          <p className="hint">
            The same question is asked once more, with the same settings. What followed it is withdrawn from the
            conversation.
            {isActive && ' The run that is at work on it is stopped.'}
          </p>
          <Form
            work={retry}
            button={isActive ? 'Stop it, and ask again' : 'Ask again'}
            label="Ask again"
            cancel={close}
          >
            <TextField label="Model" name="model" list={list} placeholder="The same" spellCheck={false} />
            <FilesChoice runId={runId} moment={{}} value={files} onChange={setFiles} />
            <ModelOptions id={list} />
          </Form>
        </>
      )}
    </Modal>
  );
}
