import type { Run } from '@rondo/client';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { ModelOptions } from '../ui/run-choice.tsx';
import { AreaField, TextField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';
import { Modal } from '../ui/modal.tsx';
import { type Files, FilesChoice, toWorkspace } from './files-choice.tsx';

const places = { codes: { fork_needs_input: 'input', model_not_allowed: 'model' } };

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

/** Begins a run with the log of this one up to a place, and opens it. */
export function ForkDialog({ run, place: { atSeq, iteration }, onClose }: ForkDialogProps) {
  const rondo = useRondo();
  const navigate = useNavigate();
  const list = useId();
  const [files, setFiles] = useState<Files>('otherwise');
  const fork = async (fields: FormData) => {
    const [input, model] = [toText(fields, 'input'), toText(fields, 'model')];
    const { id } = await rondo.runs.fork(run.id, {
      at_seq: atSeq,
      ...(input !== '' && { input }),
      ...(model !== '' && { model }),
      ...toWorkspace(files),
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
          <Form work={fork} button="Fork" label="Fork" cancel={close} places={places}>
            <AreaField
              label="What it is told"
              name="input"
              rows={3}
              hint="Optional where the run is not finished at that point."
            />
            <TextField label="Model" name="model" list={list} placeholder={run.model} spellCheck={false} />
            <FilesChoice runId={run.id} moment={{ at_seq: atSeq }} isFork value={files} onChange={setFiles} />
            <ModelOptions id={list} />
          </Form>
        </>
      )}
    </Modal>
  );
}
