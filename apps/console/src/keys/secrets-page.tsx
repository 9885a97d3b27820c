import { type NewSecret, type Secret, type SecretUse, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { age, describeExpiry } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { ChoiceField, TextField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';
import { OpenedCard } from '../ui/opened-card.tsx';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { useNow } from '../ui/use-now.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { AccessTabs } from '../ui/tabs.tsx';

/** What agents use and cannot read, without the values, and each request that carried one or was refused it. */
export function SecretsPage() {
  const rondo = useRondo();
  const { data, error, refetch } = useQuery({
    queryKey: ['secrets'],
    queryFn: async () => {
      const [secrets, uses] = await Promise.all([
        take(rondo.secrets.list({ limit: 100 }), 500),
        take(rondo.secrets.uses({ limit: 50 }), 50),
      ]);
      return { secrets: secrets.items, uses: uses.items };
    },
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Secrets</h1>
        <AccessTabs />
      </div>
      <NewSecretForm />
      {data ? <SecretTable secrets={data.secrets} /> : <Loading what="secrets" />}
      {data && data.uses.length > 0 && <Uses uses={data.uses} />}
    </>
  );
}

const placements = [
  ['bearer', 'header Authorization, after “Bearer ”'],
  ['header', 'a header, whole'],
  ['query', 'a parameter of the query'],
  ['basic', 'the password of a user'],
] as const;

function readPlacement(fields: FormData): NewSecret['placement'] {
  const kind = toText(fields, 'placement');
  if (kind === 'bearer') return { in: 'header', name: 'Authorization', prefix: 'Bearer ' };
  if (kind === 'basic') return { in: 'basic', username: toText(fields, 'placement.username') };
  return { in: kind === 'query' ? 'query' : 'header', name: toText(fields, 'placement.name') };
}

const approvals = [
  ['none', 'needs no approval'],
  ['first_use', 'waits for a person'],
] as const;

const allMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
const methods = [
  ['GET, HEAD', 'only reads: GET, HEAD'],
  ['GET, HEAD, POST', 'GET, HEAD, POST'],
  [allMethods, 'all methods'],
] as const;

const toList = (text: string): string[] => text.split(/[\s,]+/).filter((part) => part !== '');

function readSecret(fields: FormData): NewSecret {
  const expiry = toText(fields, 'expires_at');
  return {
    name: toText(fields, 'name'),
    value: toText(fields, 'value'),
    description: toText(fields, 'description'),
    allowed_hosts: toList(toText(fields, 'allowed_hosts')),
    methods: allMethods
      .split(', ')
      .filter((one): one is NonNullable<NewSecret['methods']>[number] =>
        toList(toText(fields, 'methods')).includes(one),
      ),
    placement: readPlacement(fields),
    approval: toText(fields, 'approval') === 'first_use' ? 'first_use' : 'none',
    ...(expiry !== '' && { expires_at: new Date(expiry).toISOString() }),
  };
}

function NewSecretForm() {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  return (
    <OpenedCard name="New secret">
      {(close) => (
        <Form
          work={async (fields) => {
            await rondo.secrets.create(readSecret(fields));
            close();
            await refreshKey(['secrets']);
          }}
          button="Store"
          label="New secret"
          cancel={close}
          places={{ codes: { secret_name_taken: 'name' } }}
        >
          <SecretFields />
        </Form>
      )}
    </OpenedCard>
  );
}

function SecretFields() {
  const [placement, setPlacement] = useState<string>('bearer');
  return (
    <div className="fields">
      <TextField
        label="Name"
        name="name"
        required
        autoFocus
        spellCheck={false}
        placeholder="GITHUB_TOKEN"
        hint="Commands find a placeholder in the variable of this name."
      />
      <TextField
        label="Value"
        name="value"
        type="password"
        required
        autoComplete="new-password"
        hint="It is sealed, and nothing shows it again."
      />
      <TextField
        label="Hosts that may get it"
        name="allowed_hosts"
        required
        spellCheck={false}
        placeholder="api.github.com, *.example.com"
      />
      <ChoiceField label="Methods" name="methods" options={methods} />
      <ChoiceField
        label="Where it goes"
        name="placement"
        options={placements}
        value={placement}
        onChange={({ currentTarget }) => setPlacement(currentTarget.value)}
      />
      {placement !== 'bearer' && (
        <TextField
          label={placement === 'basic' ? 'User' : 'Name of the header or parameter'}
          name={placement === 'basic' ? 'placement.username' : 'placement.name'}
          required
          spellCheck={false}
        />
      )}
      <ChoiceField label="First use in a run" name="approval" options={approvals} />
      <TextField label="Description" name="description" maxLength={500} />
      <TextField
        label="Expires"
        name="expires_at"
        type="datetime-local"
        hint="From then on it is refused. Empty: it does not expire."
      />
    </div>
  );
}

const describePlacement = (placement: Secret['placement']): string => {
  if (placement.in === 'basic') return `password of ${placement.username}`;
  return placement.in === 'query' ? `parameter ${placement.name}` : `header ${placement.name}`;
};

function SecretTable({ secrets }: { readonly secrets: readonly Secret[] }) {
  if (secrets.length === 0)
    return (
      <Empty title="No secrets yet.">
        <p>A run names those that its commands and MCP servers may use.</p>
      </Empty>
    );
  return (
    <Table label="Secrets" columns={['Name', 'May go to', 'Methods', 'Where it goes', 'Changed', 'Expires']} hasActions>
      {secrets.map((secret) => (
        <SecretRow key={secret.id} secret={secret} />
      ))}
    </Table>
  );
}

function SecretRow({ secret }: { readonly secret: Secret }) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const now = useNow();
  const { name, expires_at: expiry } = secret;
  const revoke = async () => {
    await rondo.secrets.delete(secret.id);
    await refreshKey(['secrets']);
  };
  return (
    <tr>
      <td>
        <code>{name}</code>
        {secret.project_id !== null && <span className="tag">of a project</span>}
        {secret.approval === 'first_use' && <span className="tag">needs approval</span>}
        {secret.description !== '' && <p className="hint">{secret.description}</p>}
      </td>
      <td>{secret.allowed_hosts.join(', ')}</td>
      <td>{secret.methods.join(', ')}</td>
      <td>{describePlacement(secret.placement)}</td>
      <td className="nowrap" title={new Date(secret.updated_at).toLocaleString()}>
        {age(secret.updated_at, now)}
      </td>
      <td>{describeExpiry(expiry, now)}</td>
      <td className="number">
        <ConfirmedAction
          name="Revoke"
          label={`Revoke ${name}`}
          question={`Revoke ${name}? Its value is deleted, and the next request that would carry it is refused.`}
          work={revoke}
        />
      </td>
    </tr>
  );
}

const refusals: Record<NonNullable<SecretUse['refusal']>, string> = {
  revoked: 'refused: it was revoked',
  expired: 'refused: it had expired',
  host: 'refused: the host is none of its hosts',
  method: 'refused: the method is none of its methods',
  run_over: 'refused: the run was over',
  not_named: 'refused: the run does not name it',
  denied: 'refused: a person denied it',
  not_approved: 'refused: no person allowed it in time',
};

const describeOutcome = ({ refusal, status }: SecretUse): string =>
  refusal !== null ? refusals[refusal] : status === null ? 'sent, without an answer yet' : `answered ${status}`;

function Uses({ uses }: { readonly uses: readonly SecretUse[] }) {
  const now = useNow();
  return (
    <section className="section">
      <h2>Newest uses</h2>
      <Table label="Uses of secrets" columns={['When', 'Secret', 'Request', 'By', 'Outcome']}>
        {uses.map((use) => (
          <tr key={use.id} className={use.refusal === null ? undefined : 'past'}>
            <td className="nowrap" title={new Date(use.at).toLocaleString()}>
              {age(use.at, now)}
            </td>
            <td>
              <code>{use.name}</code>
            </td>
            <td>
              <code>
                {use.method} {use.host}
                {use.path}
              </code>
            </td>
            <td>
              {use.run_id === null ? (
                'no run'
              ) : (
                <Link to="/runs/$runId" params={{ runId: use.run_id }}>
                  {use.via === 'mcp' ? 'an MCP server of a run' : 'a command of a run'}
                </Link>
              )}
            </td>
            <td>{describeOutcome(use)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
