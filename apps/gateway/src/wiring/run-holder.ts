import type { Database, RunAddress } from '@rondo/persistence';

/** The worker that holds a run now, as far as Postgres knows. */
export async function holderOf({ prisma }: Database, { accountId, runId }: RunAddress): Promise<string | undefined> {
  const held = await prisma.run.findFirst({ where: { id: runId, accountId }, select: { leaseOwner: true } });
  return held?.leaseOwner ?? undefined;
}
