import { accountId } from '@rondo/contract';
import type { Caller } from '@rondo/persistence';
import { DeploymentOperator } from './deployment-operator';

const createCaller = (account: string, scopes: Caller['scopes'] = ['admin']) =>
  ({ accountId: accountId.parse(account), scopes }) as Caller; // what is read of it
const admin = createCaller('acc_admin');

describe('the operator of the deployment', () => {
  it('is told to try again while it is not known who that is, since the database is away', async () => {
    const errors: unknown[] = [];
    const operator = new DeploymentOperator(
      () => Promise.reject(new Error('away')),
      (error) => errors.push(error),
    );
    await operator.seed();
    operator.close();

    expect(errors).toHaveLength(1);
    expect(() => operator.require(admin)).toThrow(expect.objectContaining({ code: 'service_unavailable' }));
    expect(() => operator.require(createCaller('acc_admin', ['write']))).toThrow(
      expect.objectContaining({ code: 'forbidden' }),
    );
  });

  it('is the admin of one account', async () => {
    const operator = new DeploymentOperator(() => Promise.resolve(admin), fail);
    await operator.seed();

    operator.require(admin);
    for (const other of [createCaller('acc_other'), createCaller('acc_admin', ['read', 'write'])])
      expect(() => operator.require(other)).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });
});

const fail = (error: unknown): never => {
  throw error;
};
