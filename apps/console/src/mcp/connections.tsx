import { type BegunMcpConnection, type McpConnection, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { safeLink } from '../markdown/safe-link.ts';
import { useMay, useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { age } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { TextField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';
import { Failure, NotAll } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { useNow } from '../ui/use-now.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';

const key = ['mcp connections'];
/** A person may be at the authorization server, in another window. */
const lookEveryMs = 5_000;

/** The servers that people have connected by OAuth, and a form that connects one. */
export function Connections() {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const [opened, setOpened] = useState<BegunMcpConnection>();
  const { data, error, refetch } = useQuery({
    queryKey: key,
    queryFn: () => take(rondo.mcp.connections({ limit: 100 }), 500),
    refetchInterval: lookEveryMs,
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  const connections = data?.items ?? [];
  if (connections.length === 0 && !mayWrite) return null;
  return (
    <section className="section">
      <h2>Connections</h2>
      <p className="hint">
        A server that wants a person to sign in is connected here, once. A run says by <code>connection</code> whose it
        uses.
      </p>
      {mayWrite && <NewConnection open={setOpened} />}
      {opened && isAwaited(opened, connections) && <OpenedPage url={opened.authorization_url} />}
      {connections.length > 0 && (
        <Table label="Connections" columns={['Server', 'For', 'State', 'Scopes', 'Connected']} hasActions>
          {connections.map((connection) => (
            <Row key={connection.id} connection={connection} open={setOpened} />
          ))}
        </Table>
      )}
      <NotAll list={data} what="connections" />
    </section>
  );
}

/** Whether no person has come back from the page of the connection. */
const isAwaited = ({ id, connected_at: before }: BegunMcpConnection, connections: readonly McpConnection[]): boolean =>
  connections.every((one) => one.id !== id || one.connected_at === before);

/** Browsers open no window where the answer with its address took some seconds, and do not tell. */
function OpenedPage({ url }: { readonly url: string }) {
  return (
    <p role="status">
      Go on in the window that has opened. If none has:{' '}
      <a href={safeLink(url)} target="_blank" rel="noopener noreferrer">
        open it
      </a>
    </p>
  );
}

interface ConnectProps {
  /** Told what a person goes on with in another window. */
  readonly open: (connection: BegunMcpConnection) => void;
}

function openPage(connection: BegunMcpConnection, { open }: ConnectProps): void {
  window.open(connection.authorization_url, '_blank', 'noopener');
  open(connection);
}

/** For a server that wants a person to sign in. */
function NewConnection(props: ConnectProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const connect = async (fields: FormData) => {
    const user = toText(fields, 'user');
    const begun = await rondo.mcp.connect({ url: toText(fields, 'url'), ...(user !== '' && { user }) });
    openPage(begun, props);
    await refreshKey(key);
  };
  return (
    <Form work={connect} button="Sign in to the server" label="Sign in to a server">
      <div className="fields">
        <TextField label="Server" name="url" type="url" required placeholder="https://mcp.example.com/mcp" />
        <TextField label="For the user" name="user" hint="Leave it empty for all runs of the account." />
      </div>
    </Form>
  );
}

function Row({ connection, ...props }: ConnectProps & { readonly connection: McpConnection }) {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const refreshKey = useRefreshKey();
  const now = useNow();
  const { id, url, user, status, problem, scopes, connected_at: at, connected_by: by } = connection;
  const connect = async () => {
    openPage(await rondo.mcp.connect({ url, user, scopes }), props);
  };
  const disconnect = async () => {
    await rondo.mcp.disconnect(id);
    await refreshKey(key);
  };
  return (
    <tr className={status === 'connected' ? undefined : 'past'}>
      <td>
        <code>{url}</code>
      </td>
      <td>{user ?? 'the account'}</td>
      <td>{problem === null ? status : `${status}: ${problem}`}</td>
      <td>{scopes.join(' ')}</td>
      <td>{at !== null && `${age(at, now)}, by ${by}`}</td>
      <td>
        {mayWrite && (
          <>
            <Action work={connect}>{status === 'connected' ? 'Connect again' : 'Connect'}</Action>{' '}
            <ConfirmedAction
              name={`Disconnect ${new URL(url).host}`}
              question={`Disconnect ${url}? Its tokens are deleted, and no further request carries one.`}
              work={disconnect}
            />
          </>
        )}
      </td>
    </tr>
  );
}
