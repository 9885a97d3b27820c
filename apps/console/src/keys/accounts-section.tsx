import { type ListedAccount, RondoError, take, type AccountWithKey } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { age } from '../ui/amounts.ts';
import { Failure } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { useNow } from '../ui/use-now.ts';
import { AccountDialog } from './account-dialog.tsx';
import { TextField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';
import { SecretOnce } from '../ui/secret-once.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';

const pageSize = 50;

/** All accounts, for those who operate the deployment. Nothing for the admins of others, whom the gateway refuses the list. */
export function AccountsSection() {
  const rondo = useRondo();
  const [shown, setShown] = useState(pageSize);
  const { data, error, refetch } = useQuery({
    queryKey: ['accounts', shown],
    queryFn: async ({ signal }) => {
      const [page, tiers] = await Promise.all([
        take(rondo.accounts.list({ limit: pageSize }), shown),
        rondo.accounts.tiers({ signal }),
      ]);
      return { ...page, tiers };
    },
    placeholderData: (earlier) => earlier,
    retry: false,
  });
  if (!data && (!error || isRefused(error))) return null;
  return (
    <section className="section">
      <h2>Accounts</h2>
      <p className="hint">Each account has runs, agents, keys and usage of its own.</p>
      <NewAccount />
      {error && !data && <Failure error={error} retry={() => void refetch()} />}
      {data && <AccountTable accounts={data.items} tiers={data.tiers} />}
      {data?.hasMore === true && <button onClick={() => setShown(shown + pageSize)}>Show older accounts</button>}
      {data?.tiers.length === 0 && (
        <p className="hint">
          What accounts spend is not limited: this deployment has no tiers (<code>ACCOUNT_TIERS</code>).
        </p>
      )}
    </section>
  );
}

const isRefused = (error: Error): boolean => error instanceof RondoError && error.status === 403;

interface AccountTableProps {
  readonly accounts: readonly ListedAccount[];
  readonly tiers: readonly string[];
}

function AccountTable({ accounts, tiers }: AccountTableProps) {
  const [managed, setManaged] = useState<string | null>(null);
  const account = accounts.find(({ id }) => id === managed);
  const now = useNow();
  const hasTiers = tiers.length > 0;
  const columns = hasTiers ? ['Name', 'Account', 'Created', 'Tier'] : ['Name', 'Account', 'Created'];
  return (
    <>
      <Table label="Accounts" columns={columns} hasActions={hasTiers}>
        {accounts.map(({ id, name, created_at: at, tier }) => (
          <tr key={id}>
            <td>{name}</td>
            <td>
              <code className="id">{id}</code>
            </td>
            <td className="nowrap" title={new Date(at).toLocaleString()}>
              {age(at, now)}
            </td>
            {hasTiers && <td>{tier}</td>}
            {hasTiers && (
              <td className="number">
                <button aria-label={`Tier and credit of ${name}`} onClick={() => setManaged(id)}>
                  Tier and credit
                </button>
              </td>
            )}
          </tr>
        ))}
      </Table>
      {account && <AccountDialog account={account} tiers={tiers} onClose={() => setManaged(null)} />}
    </>
  );
}

/** Creates an account, and shows its first key once. */
function NewAccount() {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const [isOpen, setOpen] = useState(false);
  const [created, setCreated] = useState<AccountWithKey | null>(null);
  const create = async (fields: FormData) => {
    setCreated(await rondo.accounts.create(toText(fields, 'name')));
    setOpen(false);
    await refreshKey(['accounts']);
  };
  if (created)
    return (
      <SecretOnce
        name={`The admin key of “${created.account.name}” (${created.account.id})`}
        secret={created.api_key}
        close={() => setCreated(null)}
      />
    );
  if (!isOpen)
    return (
      <p className="before-table">
        <button onClick={() => setOpen(true)}>New account</button>
      </p>
    );
  return (
    <div className="card">
      <Form work={create} button="Create account" label="New account" cancel={() => setOpen(false)}>
        <TextField label="Name of the account" name="name" required maxLength={200} autoFocus />
      </Form>
    </div>
  );
}
