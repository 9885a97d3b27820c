import { useSession } from '../session/use-session.ts';

const roles = ['admin', 'write', 'read'] as const;

/** As whom this browser is signed in: two accounts that are open side by side look the same otherwise. */
export function WhoAmI() {
  const { who } = useSession();
  const role = roles.find((name) => who.scopes.includes(name)) ?? 'no scope';
  const caller = who.caller_name ?? who.caller_id;
  return (
    <dl className="who" aria-label="Signed in as">
      <div>
        <dt className="unseen">Account</dt>
        <dd title={who.account_id}>{who.account_name ?? who.account_id}</dd>
      </div>
      <div>
        <dt>{who.caller_id.startsWith('key_') ? 'Key' : 'User'}</dt> <dd title={who.caller_id}>{caller}</dd>
      </div>
      <div>
        <dt>Role</dt> <dd>{who.operates_deployment === true ? `${role}, operates the deployment` : role}</dd>
      </div>
    </dl>
  );
}
