import type { NoteRow } from '@rondo/client';
import { describeNote } from '@rondo/react';
import { RunLink } from './run-origin.tsx';

export function NoteItem({ row }: { readonly row: NoteRow }) {
  const { fact } = row;
  return (
    <p className={`note ${fact.type.replace('.', '-')}`}>
      {describeNote(fact)}
      {fact.type === 'run.forked' && (
        <>
          {' '}
          <RunLink id={fact.data.run_id} seq={fact.data.seq} />
        </>
      )}
    </p>
  );
}
