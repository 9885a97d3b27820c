import { type SandboxRequest, sandboxRequest } from '@rondo/messaging';
import { TunnelShares } from './tunnel-shares';

const all = 256;
const read = (account: string): SandboxRequest =>
  sandboxRequest.parse({ op: 'read', thread_id: `thr_${account}`, account_id: `acc_${account}`, path: 'a' });
const site = (account: string, token: string): SandboxRequest =>
  sandboxRequest.parse({ op: 'site', thread_id: `thr_${account}`, account_id: `acc_${account}`, token });

const command = (account: string, thread = account): SandboxRequest =>
  sandboxRequest.parse({
    ...{ op: 'exec', thread_id: `thr_${thread}`, account_id: `acc_${account}`, command: 'yes', timeout_ms: 1_000 },
  });

/** Takes places until none is left. */
function fill(shares: TunnelShares, request: SandboxRequest, isWorker = false): (() => void)[] {
  const taken: (() => void)[] = [];
  try {
    for (;;) taken.push(shares.enter({ request, isWorker }));
  } catch (error) {
    expect(error).toMatchObject({ code: 'executor_busy' });
    return taken;
  }
}

describe('attack: the tunnels of an executor', () => {
  it('are shared: an account has less than half, and some are only for workers', () => {
    const shares = new TunnelShares(all);
    expect(fill(shares, read('1'))).toHaveLength(112);
    expect(fill(shares, read('2'))).toHaveLength(112);
    expect(fill(shares, read('3'))).toHaveLength(0);
    expect(fill(shares, read('1'), true)).toHaveLength(16);
    expect(fill(shares, read('3'), true)).toHaveLength(16);
  });

  it('are shared: visitors of sites leave some to the account, and to others', () => {
    const shares = new TunnelShares(all);
    expect(fill(shares, site('1', 'a'))).toHaveLength(48);
    expect(fill(shares, site('1', 'b'))).toHaveLength(16);
    expect(fill(shares, site('2', 'a'))).toHaveLength(48);
    expect(fill(shares, site('3', 'a'))).toHaveLength(16);
    expect(fill(shares, read('1'))).toHaveLength(48);
    expect(fill(shares, read('4'))).toHaveLength(48);
  });

  it('are shared: commands of people are few, of a sandbox and of an account', () => {
    const shares = new TunnelShares(all);
    expect(fill(shares, command('1', '1a'))).toHaveLength(4);
    expect(fill(shares, command('1', '1b'))).toHaveLength(4);
    expect(fill(shares, command('1', '1c'))).toHaveLength(0);
    expect(fill(shares, command('2'))).toHaveLength(4);
    expect(fill(shares, read('1'))).toHaveLength(104);
  });
});

describe('a place among the tunnels', () => {
  it('is given back once', () => {
    const shares = new TunnelShares(all);
    const [first] = fill(shares, read('1'));
    first?.();
    first?.();
    expect(fill(shares, read('1'))).toHaveLength(1);
  });
});
