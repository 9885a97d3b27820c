import { type SandboxStatus, type Run, take } from '@rondo/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useRondo } from '../session/use-session.ts';
import { useTerminalSession } from '../terminal/terminal-session.ts';
import { Terminal } from '../terminal/terminal.tsx';
import { useThreadTitle } from '../threads/thread-title.ts';
import { Action } from '../ui/action.tsx';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { TextField } from '../ui/fields.tsx';
import { hasNothing, problemText } from '../ui/problem-text.ts';
import { Form, toText } from '../ui/form.tsx';
import { FailurePage, Loading } from '../ui/states.tsx';
import { ItemHead } from '../ui/item-head.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { toDirectory, joinPath } from './file-content.ts';
import { FileTree } from './file-tree.tsx';
import { FileView } from './file-view.tsx';
import { SandboxFigures } from './sandbox-figures.tsx';
import { SandboxState, stateMeaning } from './sandbox-state.tsx';
import { unfinished } from '../runs/at-work.ts';
import { useRunTitle } from '../runs/run-title.ts';
import { Status } from '../ui/status.tsx';
import { DropFiles } from '../ui/drop-files.tsx';

const route = getRouteApi('/sandboxes/$sandboxId');

/** A sandbox: its state, and its files. */
export function SandboxPage() {
  const { sandboxId } = route.useParams();
  const { path } = route.useSearch();
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const { data, error } = useQuery({
    queryKey: ['sandbox', sandboxId],
    queryFn: ({ signal }) => rondo.sandboxes.get(sandboxId, { signal }),
    refetchInterval: 5_000,
  });
  if (hasNothing(error, data)) return <FailurePage error={error} list={{ to: '/sandboxes', name: 'All sandboxes' }} />;
  if (!data) return <Loading what="the sandbox" />;
  return (
    <>
      <SandboxHead sandbox={data} />
      <RunsHere threadId={data.thread_id} />
      {mayWrite && <OwnTerminal key={sandboxId} sandboxId={sandboxId} />}
      <div className="sandbox-body">
        <section className="tree" aria-label="Files">
          {mayWrite && <UploadFiles sandboxId={sandboxId} directory={path === undefined ? '' : toDirectory(path)} />}
          <FileTree sandboxId={sandboxId} directory="" shown={path} />
          {mayWrite && <NewFile sandboxId={sandboxId} />}
        </section>
        {path === undefined ? (
          <p className="hint">Choose a file to see it.</p>
        ) : (
          <FileView key={path} sandboxId={sandboxId} path={path} />
        )}
      </div>
    </>
  );
}

function OwnTerminal({ sandboxId }: { readonly sandboxId: string }) {
  const rondo = useRondo();
  const [isOpen, setOpen] = useState(false);
  const session = useTerminalSession((command, signal) => rondo.sandboxes.exec(sandboxId, command, { signal }));
  return (
    <section className="section">
      <button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Terminal
      </button>
      {isOpen && <Terminal session={session} />}
    </section>
  );
}

function SandboxHead({ sandbox }: { readonly sandbox: SandboxStatus }) {
  const title = useThreadTitle({ id: sandbox.thread_id, metadata: {} });
  return (
    <ItemHead
      list={{ to: '/sandboxes', name: 'Sandboxes' }}
      crumb={<code>{sandbox.id}</code>}
      title={title ?? sandbox.id}
      facts={
        <>
          <p className="run-facts">
            <SandboxState state={sandbox.state} />
            <span>{stateMeaning(sandbox.state)}</span>
          </p>
          <SandboxFigures sandbox={sandbox} />
        </>
      }
    >
      <Link to="/threads/$threadId" params={{ threadId: sandbox.thread_id }}>
        Its thread
      </Link>
      <SandboxActions sandbox={sandbox} />
    </ItemHead>
  );
}

function SandboxActions({ sandbox: { id, state } }: { readonly sandbox: SandboxStatus }) {
  const rondo = useRondo();
  const queries = useQueryClient();
  const refreshKey = useRefreshKey();
  const navigate = useNavigate();
  const refresh = (changed: SandboxStatus) => queries.setQueryData(['sandbox', id], changed);
  const remove = async () => {
    await rondo.sandboxes.delete(id);
    await refreshKey(['sandboxes']);
    await navigate({ to: '/sandboxes' });
  };
  if (!useMay('write')) return null;
  return (
    <>
      {state === 'awake' ? (
        <ConfirmedAction
          name="Put to sleep"
          className=""
          question="End all processes of this sandbox? Its files stay. A command that runs in it is lost."
          work={() => rondo.sandboxes.stop(id).then(refresh)}
        />
      ) : (
        <Action work={() => rondo.sandboxes.start(id).then(refresh)}>Wake</Action>
      )}
      <ConfirmedAction
        name="Delete"
        label="Delete this sandbox"
        question="End all processes of this sandbox, and delete its files? Its thread stays, and begins with an empty workspace."
        work={remove}
      />
    </>
  );
}

function NewFile({ sandboxId }: { readonly sandboxId: string }) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const navigate = useNavigate();
  const create = async (fields: FormData) => {
    const path = toText(fields, 'path');
    await rondo.sandboxes.writeFile(sandboxId, { path, content: '' });
    await refreshKey(['files', sandboxId]);
    await navigate({ to: '/sandboxes/$sandboxId', params: { sandboxId }, search: { path } });
  };
  return (
    <details className="new-file">
      <summary>New file</summary>
      <Form work={create} button="Create" label="New file">
        <TextField label="Path in the workspace" name="path" required placeholder="notes/todo.md" spellCheck={false} />
      </Form>
    </details>
  );
}

/** The unfinished runs of a sandbox's thread, and what each does now. */
export function RunsHere({ threadId }: { readonly threadId: string }) {
  const rondo = useRondo();
  const { data } = useQuery({
    queryKey: ['runs here', threadId],
    queryFn: () => take(rondo.runs.list({ thread_id: threadId, status: unfinished, limit: 20 }), 20),
    refetchInterval: 3_000,
  });
  if (!data) return null;
  return (
    <section className="section" aria-label="What runs in it">
      <h2>What runs in it</h2>
      {data.items.length === 0 && (
        <p className="hint">No run. What an earlier one has left running in the background is not listed.</p>
      )}
      <ul>
        {data.items.map((run) => (
          <RunHere key={run.id} run={run} />
        ))}
      </ul>
    </section>
  );
}

function RunHere({ run }: { readonly run: Run }) {
  const rondo = useRondo();
  const title = useRunTitle(run);
  const { data } = useQuery({
    queryKey: ['why', run.id, run.status],
    queryFn: ({ signal }) => rondo.runs.why(run.id, { signal }),
    refetchInterval: 2_000,
  });
  return (
    <li className="run-here">
      <Status status={run.status} />
      <Link to="/runs/$runId" params={{ runId: run.id }} dir="auto">
        {title ?? run.id}
      </Link>
      <span className="hint">{data?.sentence}</span>
    </li>
  );
}

interface UploadFilesProps {
  readonly sandboxId: string;
  /** Where they go; empty for the workspace. */
  readonly directory: string;
}

/** Files go into the directory. One with the same name is replaced. */
export function UploadFiles({ sandboxId, directory }: UploadFilesProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const upload = async (files: readonly File[], say: (words: string) => void) => {
    try {
      for (const file of files) {
        say(`Uploading ${file.name} …`);
        const path = joinPath(directory, file.name);
        await rondo.sandboxes.writeFile(sandboxId, { path, content: file }).catch((cause: unknown) => {
          throw new Error(`${file.name}: ${problemText(cause)}`, { cause });
        });
      }
    } finally {
      await refreshKey(['files', sandboxId]); // those before one that is refused are there
    }
    return files.length === 1 ? 'Uploaded.' : `${files.length} files were uploaded.`;
  };
  return (
    <DropFiles
      isMultiple
      button="Upload files"
      label="Files to upload"
      hint={`or drop them here${directory === '' ? '' : `, into ${directory}/`}`}
      upload={upload}
    />
  );
}
