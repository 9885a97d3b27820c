import type { Run } from '@rondo/client';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { useModels } from '../threads/run-choice.tsx';
import { AreaField, ChoiceField, TextField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';
import { Modal } from '../ui/modal.tsx';
import { RewindPreview } from './rewind-preview.tsx';

/** Where a fork begins: after this fact. */
export interface ForkPlace {
  readonly atSeq: number;
  /** The iteration that is done again. Null: the place is what the page shows. */
  readonly iteration: number | null;
}

interface ForkDialogProps {
  readonly run: Run;
  readonly place: ForkPlace;
  readonly onClose: () => void;
}

const choices = [
  ['empty', 'None: it begins empty'],
  ['as_then', 'Files as they were then'],
] as const;

/** Begins a run with the log of this one up to a place, and opens it. */
export function ForkDialog({ run, place: { atSeq, iteration }, onClose }: ForkDialogProps) {
  const rondo = useRondo();
  const navigate = useNavigate();
  const models = useModels();
  const list = useId();
  const [files, setFiles] = useState<(typeof choices)[number][0]>('empty');
  const fork = async (fields: FormData) => {
    const [input, model] = [toText(fields, 'input'), toText(fields, 'model')];
    const { id } = await rondo.runs.fork(run.id, {
      at_seq: atSeq,
      ...(input !== '' && { input }),
      ...(model !== '' && { model }),
      ...(files === 'as_then' && { workspace: files }),
    });
    onClose();
    await navigate({ to: '/runs/$runId', params: { runId: id }, search: {} });
  };
  return (
    <Modal
      title={iteration === null ? `Fork after fact ${atSeq}` : `Fork before iteration ${iteration}`}
      onClose={onClose}
    >
      {(close) => (
        <>
          <p className="hint">
            A new run begins with what happened until there, on a thread of its own. What tools have answered is taken
            from the log: nothing runs a second time.
          </p>
          <Form work={fork} button="Fork" label="Fork" cancel={close}>
            <AreaField
              label="What it is told"
              name="input"
              rows={3}
              hint="May be empty where the model has not said its last word."
            />
            <TextField label="Model" name="model" list={list} placeholder={run.model} spellCheck={false} />
            <ChoiceField
              label="Files of its workspace"
              options={choices}
              value={files}
              onChange={({ target }) => setFiles(target.value === 'as_then' ? 'as_then' : 'empty')}
            />
            {files === 'as_then' && <RewindPreview run={run} atSeq={atSeq} />}
            <datalist id={list}>
              {models.map((id) => (
                <option key={id} value={id} />
              ))}
            </datalist>
          </Form>
        </>
      )}
    </Modal>
  );
}
