import { type SandboxRequest, TunnelError } from '@rondo/messaging';

interface TunnelUser {
  readonly request: SandboxRequest;
  readonly isWorker: boolean;
}

/**
 * How the tunnels of an executor are shared, so that none of its users takes them all. An account gets half of them. An eighth
 * is only for workers, since runs wait for them. Previews and sites are open to strangers: all of them get half, those of an
 * account a quarter, and a single one somewhat less, so that the account's own requests go on. Commands of people take processors
 * from those of runs: an account gets few at once.
 */
export class TunnelShares {
  private readonly used = new Map<string, number>();

  constructor(private readonly all: number) {}

  /** Takes a place; the result gives it back, once. Throws TunnelError `executor_busy` where a share is used up. */
  enter(user: TunnelUser): () => void {
    const shares = this.sharesFor(user);
    for (const [share, part] of shares)
      if ((this.used.get(share) ?? 0) >= Math.floor(part * this.all))
        throw new TunnelError('executor_busy', 'Too many transfers are open.');
    for (const [share] of shares) this.change(share, 1);
    let isTaken = true;
    return () => {
      if (isTaken) for (const [share] of shares) this.change(share, -1);
      isTaken = false;
    };
  }

  private sharesFor({ request, isWorker }: TunnelUser): [share: string, part: number][] {
    const { account_id: account } = request;
    const shares: [string, number][] = [
      ['all', 1],
      [`all ${account}`, 1 / 2],
    ];
    if (!isWorker) shares.push(['clients', 7 / 8], [`clients ${account}`, 7 / 16]);
    if (request.op === 'connect' || request.op === 'site') {
      const preview = `preview ${request.thread_id} ${request.token}`;
      shares.push(['previews', 1 / 2], [`previews ${account}`, 1 / 4], [preview, 3 / 16]);
    }
    if (request.op === 'exec')
      shares.push(['commands', 1 / 8], [`commands ${account}`, 1 / 32], [`commands ${request.thread_id}`, 1 / 64]);
    return shares;
  }

  private change(share: string, by: 1 | -1): void {
    const count = (this.used.get(share) ?? 0) + by;
    if (count > 0) this.used.set(share, count);
    else this.used.delete(share);
  }
}
