import type { AgentComparison } from '@rondo/client';

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** What the second version has in place of the first. Shapes and words say which is which, not only the colours. */
export function VersionChanges({ comparison: { from, to, changes } }: { readonly comparison: AgentComparison }) {
  if (changes.length === 0) return <p className="hint">The two versions have the same definition.</p>;
  return (
    <dl className="changes" aria-label={`From version ${from} to version ${to}`}>
      {changes.map(({ path, before, after, op }) => (
        <div key={path}>
          <dt>
            <code>{path}</code>
          </dt>
          {op !== 'add' && (
            <dd className="before">
              <span>In version {from}</span>
              <pre tabIndex={0}>{toText(before)}</pre>
            </dd>
          )}
          {op !== 'remove' && (
            <dd className="after">
              <span>In version {to}</span>
              <pre tabIndex={0}>{toText(after)}</pre>
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}
