import { useQuery } from '@tanstack/react-query';
import { useRondo } from '../session/use-session.ts';
import { BalanceFigures } from './balance-figures.tsx';

const refreshMs = 15_000;

/** The balance of the own account. Nothing where the deployment has no tiers, because it limits nothing then. */
export function BalanceSection() {
  const rondo = useRondo();
  const { data: balance } = useQuery({
    queryKey: ['balance'],
    queryFn: ({ signal }) => rondo.balance({ signal }),
    refetchInterval: refreshMs,
  });
  if (balance?.tier == null) return null;
  return (
    <section className="card" aria-label="Balance">
      <h2>
        Balance <span className="tag">Tier {balance.tier}</span>
      </h2>
      <BalanceFigures balance={balance} />
    </section>
  );
}
