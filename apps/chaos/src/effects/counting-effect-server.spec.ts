import { type Behaviour, CountingEffectServer } from './counting-effect-server';

describe('CountingEffectServer', () => {
  let effects: CountingEffectServer;

  beforeEach(async () => {
    effects = await CountingEffectServer.start();
  });

  afterEach(() => effects.stop());

  const post = (request: { keyed: boolean; behaviour?: Behaviour }, key?: string) =>
    fetch(effects.url({ ...request, tag: 'a/1' }), {
      method: 'POST',
      body: 'x',
      headers: key === undefined ? {} : { 'Idempotency-Key': key },
    });

  it('applies every request without a key', async () => {
    await post({ keyed: false }, 'k');
    await post({ keyed: false }, 'k');

    expect(effects.ledger.countEffects()).toEqual(new Map([['a/1', 2]]));
  });

  it('applies a key once and answers a repeated request', async () => {
    const answers = [await post({ keyed: true }, 'k'), await post({ keyed: true }, 'k')];

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(effects.ledger.countEffects()).toEqual(new Map([['a/1', 1]]));
    expect(effects.ledger.requests).toHaveLength(2);
  });

  it('applies, then drops the connection; a retry with the key is answered', async () => {
    await expect(post({ keyed: true, behaviour: 'drop' }, 'k')).rejects.toThrow();
    const again = await post({ keyed: true, behaviour: 'drop' }, 'k');

    expect(again.status).toBe(200);
    expect(effects.ledger.countEffects()).toEqual(new Map([['a/1', 1]]));
  });

  it('applies, then answers 500', async () => {
    expect((await post({ keyed: false, behaviour: 'error' })).status).toBe(500);
    expect(effects.ledger.countEffects()).toEqual(new Map([['a/1', 1]]));
  });
});
