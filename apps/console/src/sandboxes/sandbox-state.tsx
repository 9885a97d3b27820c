import type { SandboxStatus } from '@rondo/client';

const words: Record<SandboxStatus['state'], string> = {
  awake: 'Awake',
  asleep: 'Asleep',
  absent: 'No files yet',
  unknown: 'Executor silent',
};

const meanings: Record<SandboxStatus['state'], string> = {
  awake: 'Processes run in it, or may run at once.',
  asleep: 'Only its files exist. The next use wakes it.',
  absent: 'It has no files yet, or no longer.',
  unknown: 'Its executor does not answer.',
};

export const stateMeaning = (state: SandboxStatus['state']): string => meanings[state];

/** A shape and a word, as for runs. */
export function SandboxState({ state }: { readonly state: SandboxStatus['state'] }) {
  const shape = { awake: 'running', asleep: 'stopped', absent: 'queued', unknown: 'waiting_input' }[state];
  return (
    <span className={`status ${shape} still`} title={meanings[state]}>
      <i aria-hidden="true" />
      {words[state]}
    </span>
  );
}
