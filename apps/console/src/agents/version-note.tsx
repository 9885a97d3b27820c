import type { AgentVersion } from '@rondo/client';
import { useState } from 'react';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { AreaField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';

interface VersionNoteProps {
  readonly agentId: string;
  readonly version: AgentVersion;
  readonly refresh: () => Promise<unknown>;
}

/** What a person says of a version. It is all of a version that can be changed. */
export function VersionNote({ agentId, version: { version, note }, refresh }: VersionNoteProps) {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const [isOpen, setOpen] = useState(false);
  const save = async (fields: FormData) => {
    await rondo.agents.noteVersion(agentId, version, toText(fields, 'note') || null);
    await refresh();
    setOpen(false);
  };
  if (isOpen)
    return (
      <Form work={save} button="Save the note" label={`Note of version ${version}`} cancel={() => setOpen(false)}>
        <AreaField label="Note" name="note" rows={2} maxLength={2_000} defaultValue={note ?? ''} />
      </Form>
    );
  return (
    <p className="version-note">
      {note !== null && `${note} `}
      {mayWrite && (
        <button
          className="quiet"
          aria-label={`${note === null ? 'Add a note to' : 'Change the note of'} version ${version}`}
          onClick={() => setOpen(true)}
        >
          {note === null ? 'Add a note' : 'Change'}
        </button>
      )}
    </p>
  );
}
