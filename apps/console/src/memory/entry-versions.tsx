import type { MemoryVersion, MemoryWriter } from '@rondo/client';
import { Link } from '@tanstack/react-router';
import { useKeyNames } from '../keys/key-names.ts';
import { RunLink } from '../run/run-origin.tsx';
import { age, bytes } from '../ui/amounts.ts';
import { Table } from '../ui/table.tsx';
import { useNow } from '../ui/use-now.ts';

interface EntryVersionsProps {
  readonly storeId: string;
  readonly versions: readonly MemoryVersion[];
  /** The version that is open. */
  readonly shown: number;
}

/** The versions of an entry, newest first, each with who wrote it. */
export function EntryVersions({ storeId, versions, shown }: EntryVersionsProps) {
  const now = useNow();
  const keyNames = useKeyNames();
  return (
    <section className="section">
      <h2>Versions</h2>
      <Table label="Versions" columns={['Version', ['Size', 'number'], 'Written', 'By']}>
        {versions.map(({ path, version, size, created_at: at, written_by: writer }, index) => (
          <tr key={version}>
            <td>
              <Link
                to="/agents/memory/$storeId"
                params={{ storeId }}
                search={({ words }) => ({
                  path,
                  ...(index > 0 && { version }),
                  ...(words !== undefined && { words }),
                })}
                resetScroll={false}
                aria-current={version === shown ? 'true' : undefined}
              >
                version {version}
              </Link>
              {version === shown && <span className="tag">open</span>}
            </td>
            <td className="number">{bytes(size)}</td>
            <td title={new Date(at).toLocaleString()} className="nowrap">
              {age(at, now)}
            </td>
            <td>
              <Writer writer={writer} keyNames={keyNames} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

interface WriterProps {
  readonly writer: MemoryWriter;
  readonly keyNames: ReadonlyMap<string, string>;
}

/** A run, as it was when it wrote, or a caller of the API. */
function Writer({ writer: { run_id: run, seq, caller_id: caller }, keyNames }: WriterProps) {
  if (run !== null) return <RunLink id={run} {...(seq !== null && { seq })} />;
  if (caller === null) return '–';
  return <span title={caller}>{keyNames.get(caller) ?? <code className="id">{caller}</code>}</span>;
}
