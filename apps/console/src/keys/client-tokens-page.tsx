import { type ClientToken, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRondo } from '../session/use-session.ts';
import { age, moment } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { Empty, Failure, Loading, NotAll } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { useNow } from '../ui/use-now.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { AccessTabs } from '../ui/tabs.tsx';

/** The tokens with which browsers of the account's users reach their threads. */
export function ClientTokensPage() {
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({
    queryKey: ['client tokens'],
    queryFn: () => take(rondo.clientTokens.list({ limit: 100 }), 300),
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Client tokens</h1>
        <AccessTabs />
      </div>
      {!data && <Loading what="tokens" />}
      {data?.items.length === 0 && (
        <Empty title="No client tokens.">
          <p>A server of yours asks for one for each visitor, with POST /v1/client-tokens.</p>
        </Empty>
      )}
      {data && data.items.length > 0 && (
        <Table label="Client tokens" columns={['For', 'May', 'Created', 'Ends']} hasActions>
          {data.items.map((token) => (
            <TokenRow key={token.id} token={token} />
          ))}
        </Table>
      )}
      <NotAll list={data} what="tokens" />
    </>
  );
}

function TokenRow({ token }: { readonly token: ClientToken }) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const now = useNow();
  const revoke = async () => {
    await rondo.clientTokens.revoke(token.id);
    await refreshKey(['client tokens']);
  };
  const whom = token.user ?? token.thread_id ?? token.id;
  return (
    <tr className={token.revoked_at === null ? undefined : 'past'}>
      <td>
        {token.user !== null && (
          <Link to="/users/$user" params={{ user: token.user }} dir="auto">
            {token.user}
          </Link>
        )}
        {token.thread_id !== null && (
          <Link to="/threads/$threadId" params={{ threadId: token.thread_id }}>
            one thread
          </Link>
        )}
      </td>
      <td>{token.scopes.join(', ')}</td>
      <td className="nowrap" title={new Date(token.created_at).toLocaleString()}>
        {age(token.created_at, now)}
      </td>
      <td className="nowrap">{moment(token.expires_at)}</td>
      <td className="number">
        {token.revoked_at === null ? (
          <ConfirmedAction
            name="Revoke"
            label={`Revoke the token of ${whom}`}
            question={`Revoke this token of ${whom}? Its open connections are closed within a second.`}
            work={revoke}
          />
        ) : (
          `revoked ${age(token.revoked_at, now)}`
        )}
      </td>
    </tr>
  );
}
