import { type ListedSession, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useRondo, useSession } from '../session/use-session.ts';
import { age, moment } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { Failure, Loading, NotAll } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { useNow } from '../ui/use-now.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';

/** The browsers that are signed in to the account. `keyNames`: the names of its API keys by their ids. */
export function SessionsSection({ keyNames }: { readonly keyNames: ReadonlyMap<string, string> }) {
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({
    queryKey: ['sessions'],
    queryFn: () => take(rondo.sessions.list({ limit: 100 }), 300),
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="sessions" />;
  return (
    <section className="section">
      <h2>Signed-in browsers</h2>
      <Table label="Signed-in browsers" columns={['With', 'May', 'Since', 'Last used', 'Ends']} hasActions>
        {data.items.map((session) => (
          <SessionRow key={session.id} session={session} keyName={keyNames.get(session.caller_id)} />
        ))}
      </Table>
      <NotAll list={data} what="browsers" />
    </section>
  );
}

interface Row {
  readonly session: ListedSession;
  /** Undefined for a user of an outside issuer. */
  readonly keyName: string | undefined;
}

function SessionRow({ session: { id, caller_id: caller, scopes, ...times }, keyName }: Row) {
  const { rondo, who } = useSession();
  const refreshKey = useRefreshKey();
  const now = useNow();
  const isOwn = who.session_id === id;
  const name = keyName ?? caller;
  const end = async () => {
    await rondo.sessions.revoke(id);
    await refreshKey(['sessions']);
  };
  const question = isOwn
    ? 'End the session of this browser? It will be signed out.'
    : `End the session with “${name}”? Its browser is signed out at once.`;
  return (
    <tr>
      <td>
        {name}
        {isOwn && <span className="tag">this browser</span>}
      </td>
      <td>{scopes.join(', ')}</td>
      <td className="nowrap" title={new Date(times.created_at).toLocaleString()}>
        {age(times.created_at, now)}
      </td>
      <td className="nowrap">{isOwn ? 'now' : times.last_used_at === null ? 'never' : age(times.last_used_at, now)}</td>
      <td className="nowrap">{moment(times.expires_at)}</td>
      <td className="number">
        <ConfirmedAction name="End" label={`End the session with ${name}`} question={question} work={end} />
      </td>
    </tr>
  );
}
