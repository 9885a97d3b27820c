import type { Balance, ListedAccount } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { cost } from '../ui/amounts.ts';
import { ChoiceField, TextField } from '../ui/fields.tsx';
import { Form, readNumber, toText } from '../ui/form.tsx';
import { Modal } from '../ui/modal.tsx';
import { Failure, Loading } from '../ui/states.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { BalanceFigures } from '../usage/balance-figures.tsx';

interface AccountDialogProps {
  readonly account: ListedAccount;
  readonly tiers: readonly string[];
  readonly onClose: () => void;
}

/** What another account may spend, and how that is changed. */
export function AccountDialog({ account, tiers, onClose }: AccountDialogProps) {
  const rondo = useRondo();
  const balanceQuery = useQuery({
    queryKey: ['accounts', account.id, 'balance'],
    queryFn: ({ signal }) => rondo.accounts.balance(account.id, { signal }),
  });
  const { data: balance, error } = balanceQuery;
  return (
    <Modal title={`Tier and credit of “${account.name}”`} onClose={onClose}>
      {(close) => (
        <>
          {error && !balance && <Failure error={error} retry={() => void balanceQuery.refetch()} />}
          {!error && !balance && <Loading what="the balance" />}
          {balance && <Changes account={account} tiers={tiers} balance={balance} />}
          <div className="actions">
            <button onClick={close}>Close</button>
          </div>
        </>
      )}
    </Modal>
  );
}

interface ChangesProps extends Omit<AccountDialogProps, 'onClose'> {
  readonly balance: Balance;
}

function Changes({ account: { id }, tiers, balance }: ChangesProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const [done, setDone] = useState<readonly string[]>([]);
  const finish = async (what: string) => {
    await refreshKey(['accounts']);
    setDone((earlier) => [...earlier, what]);
  };
  const setTier = async (fields: FormData) => {
    const tier = toText(fields, 'tier');
    await rondo.accounts.setTier(id, tier);
    await finish(`The tier is ${tier} now.`);
  };
  const giveCredit = async (fields: FormData) => {
    const [usd, reason] = [readNumber(fields, 'usd') ?? 0, toText(fields, 'reason')];
    await rondo.accounts.giveCredit(id, { usd, ...(reason !== '' && { reason }) });
    await finish(usd < 0 ? `${cost(-usd)} were taken back.` : `${cost(usd)} were given.`);
  };
  return (
    <>
      <BalanceFigures balance={balance} />
      <Form work={setTier} button="Set the tier" label="Another tier">
        <ChoiceField
          key={balance.tier}
          label="Tier"
          name="tier"
          options={tiers.map((tier) => [tier, tier] as const)}
          defaultValue={balance.tier ?? undefined}
        />
      </Form>
      <Form key={done.length} work={giveCredit} button="Give credit" label="Credit">
        <div className="fields">
          <TextField
            label="Credit, in USD"
            name="usd"
            type="number"
            step="any"
            required
            hint="Below zero, it is taken back. It does not expire."
          />
          <TextField label="Reason" name="reason" maxLength={500} />
        </div>
      </Form>
      <p role="status" className="done">
        {done.at(-1)}
      </p>
    </>
  );
}
