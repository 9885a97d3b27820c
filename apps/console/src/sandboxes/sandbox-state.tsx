import type { SandboxStatus } from '@rondo/client';

const words: Record<SandboxStatus['state'], string> = {
  awake: 'Awake',
  asleep: 'Asleep',
  archived: 'Archived',
  deleted: 'Deleted',
  absent: 'No files yet',
  unknown: 'Executor silent',
};

const meanings: Record<SandboxStatus['state'], string> = {
  awake: 'Processes run in it, or may run at once.',
  asleep: 'Only its files are kept. It wakes when it is used.',
  archived: 'Its files are packed, because it was not used for long. The next use unpacks them.',
  deleted: 'Its files were deleted, because it was not used for long.',
  absent: 'It has no files yet, or no longer.',
  unknown: 'Its executor does not answer.',
};

/** As which status of a run it is drawn. */
const shapes: Record<SandboxStatus['state'], string> = {
  awake: 'running',
  asleep: 'stopped',
  archived: 'stopped',
  deleted: 'queued',
  absent: 'queued',
  unknown: 'waiting_input',
};

export const stateMeaning = (state: SandboxStatus['state']): string => meanings[state];

/** A shape and a word, as for runs. */
export function SandboxState({ state }: { readonly state: SandboxStatus['state'] }) {
  const shape = shapes[state];
  return (
    <span className={`status ${shape} still`} title={meanings[state]}>
      <i aria-hidden="true" />
      {words[state]}
    </span>
  );
}
