import { plainText } from '@rondo/react';
import { useMemo } from 'react';
import { type Hunk, listHunks, lineDiff } from './line-diff.ts';
import type { Change } from './sequence-diff.ts';

const signs: Record<Change['kind'], string> = { same: ' ', removed: '−', added: '+' };

interface DiffViewProps {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

/** What the second text has in place of the first. Signs say which is which, not only the colours. */
export function DiffView({ label, before, after }: DiffViewProps) {
  const hunks = useMemo(() => listHunks(lineDiff(before, after)), [before, after]);
  if (hunks.length === 0) return <p className="hint">Nothing is changed.</p>;
  return (
    <div className="diff" role="region" aria-label={label} tabIndex={0}>
      {hunks.map((hunk, index) => (
        <Changes key={index} hunk={hunk} />
      ))}
    </div>
  );
}

function Changes({ hunk: { skipped, lines } }: { readonly hunk: Hunk }) {
  return (
    <>
      {skipped > 0 && <p className="hint">… {skipped === 1 ? '1 line' : `${skipped} lines`} as before</p>}
      <pre>
        {lines.map(({ kind, text }, index) => (
          <span key={index} className={kind}>
            {signs[kind]} {plainText(text)}
            {'\n'}
          </span>
        ))}
      </pre>
    </>
  );
}
