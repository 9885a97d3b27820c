import { plainText } from '@rondo/react';
import { useRondo } from '../session/use-session.ts';
import { toDirectory, toName } from '../sandboxes/file-content.ts';
import { Action } from '../ui/action.tsx';
import { saveAs } from '../ui/save-as.ts';
import { useChatPanel } from '../chat/use-chat-panel.ts';

/** Files of the workspace that a message names: each can be seen in the panel, and downloaded. */
export function FileCards({ paths }: { readonly paths: readonly string[] }) {
  const { threadId } = useChatPanel();
  if (paths.length === 0) return null;
  if (threadId === undefined) {
    return (
      <p className="hint" dir="auto">
        Attached: {paths.map(plainText).join(', ')}
      </p>
    );
  }
  return (
    <ul className="file-cards" aria-label="Attached files">
      {paths.map((path) => (
        <FileCard key={path} path={toWorkspacePath(path)} threadId={threadId} />
      ))}
    </ul>
  );
}

/** A path as the workspace has it: agents name files with and without its directory. */
const toWorkspacePath = (path: string): string => path.replace(/^(\/workspace\/|\.\/)+/, '');

function FileCard({ path, threadId }: { readonly path: string; readonly threadId: string }) {
  const rondo = useRondo();
  const { show } = useChatPanel();
  const name = plainText(toName(path));
  const download = async () => {
    const { id } = await rondo.sandboxes.find(threadId);
    saveAs(toName(path), await (await rondo.sandboxes.readFile(id, path)).blob());
  };
  return (
    <li>
      <button className="file-open" onClick={() => show({ file: path })} title={plainText(path)}>
        <span className="file-kind" aria-hidden="true">
          {readExtension(name)}
        </span>
        <span className="file-name" dir="auto">
          {name}
        </span>
        <span className="hint">{plainText(toDirectory(path))}</span>
      </button>
      <Action className="quiet" label={`Download ${name}`} work={download}>
        Download
      </Action>
    </li>
  );
}

const readExtension = (name: string): string =>
  name.includes('.') ? name.slice(name.lastIndexOf('.') + 1, name.lastIndexOf('.') + 5) : 'file';
