import type { FileList } from '@rondo/client';
import { plainText } from '@rondo/react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { bytes } from '../ui/amounts.ts';
import { problemText } from '../ui/problem-text.ts';
import { joinPath } from './file-content.ts';

type Entry = FileList['data'][number];

interface FileTreeProps {
  readonly sandboxId: string;
  /** The directory; empty for the workspace. */
  readonly directory: string;
  /** The file that is shown. */
  readonly shown: string | undefined;
}

/** The files of a directory. Others are read when they are opened. Reading them is a use of the sandbox, so nothing is read by itself. */
export function FileTree({ sandboxId, directory, shown }: FileTreeProps) {
  const rondo = useRondo();
  const { data, error } = useQuery({
    queryKey: ['files', sandboxId, directory],
    queryFn: () => rondo.sandboxes.files(sandboxId, directory === '' ? {} : { path: directory }),
  });
  if (error && !data) return <p className="problem">{problemText(error)}</p>;
  if (!data) return <p className="hint">Loading …</p>;
  if (data.data.length === 0) return <p className="hint">{directory === '' ? 'No files yet.' : 'Empty.'}</p>;
  const entries = data.data.toSorted((one, other) => rank(one) - rank(other) || one.path.localeCompare(other.path));
  return (
    <ul className="files">
      {entries.map((entry) => (
        <TreeEntry key={entry.path} entry={entry} sandboxId={sandboxId} directory={directory} shown={shown} />
      ))}
      {data.truncated && <li className="hint">There are more than can be listed.</li>}
    </ul>
  );
}

const rank = ({ kind }: Entry): number => (kind === 'directory' ? 0 : 1);

function TreeEntry({ entry, sandboxId, directory, shown }: FileTreeProps & { readonly entry: Entry }) {
  const path = joinPath(directory, entry.path);
  const [isOpen, setOpen] = useState(shown?.startsWith(`${path}/`) === true);
  const name = plainText(entry.path);
  if (entry.kind === 'directory') {
    return (
      <li>
        <button className="directory" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {name}/
        </button>
        {isOpen && <FileTree sandboxId={sandboxId} directory={path} shown={shown} />}
      </li>
    );
  }
  return (
    <li>
      <Link
        to="/sandboxes/$sandboxId"
        params={{ sandboxId }}
        search={{ path }}
        activeOptions={{ includeSearch: true }}
        aria-current={path === shown ? 'true' : undefined}
      >
        {name}
      </Link>
      <span className="hint">{entry.kind === 'file' ? bytes(entry.size) : entry.kind}</span>
    </li>
  );
}
