import { accountId } from '@rondo/contract';
import { AccountTurns } from './account-turns';

const account = accountId.parse('acc_1');
const other = accountId.parse('acc_2');
const never = () => new Promise<never>(() => undefined);

describe('AccountTurns', () => {
  it('refuses a write whose turn does not come in time, and never carries it out', async () => {
    const turns = new AccountTurns(20);
    void turns.run(account, never);
    const write = jest.fn(() => Promise.resolve());

    await expect(turns.run(account, write)).rejects.toMatchObject({ code: 'service_unavailable' });

    expect(write).not.toHaveBeenCalled();
    await turns.run(other, write);
    expect(write).toHaveBeenCalledTimes(1);
  });

  it('tells how a write has ended that took longer', async () => {
    const turns = new AccountTurns(5);
    const late = async () => {
      await new Promise((resolve) => AbortSignal.timeout(20).addEventListener('abort', resolve));
      throw new Error('late');
    };

    await expect(turns.run(account, late)).rejects.toThrow('late');
  });
});
