import { egressSettings } from '../provider/sandbox-settings';
import { EgressGate, EgressGates, TooManyRequests } from './egress-gate';

const aGate = (more: { requestsPerSecond?: number } = {}, resolve = async (_: string) => ['192.0.2.1']) =>
  new EgressGates({
    ...egressSettings.parse(more),
    resolve,
    resolveInternal: async () => [],
    isAllowed: () => true,
  });
const to = (hostname: string) => ({ hostname, port: 443 });
const outcomes = async (gate: EgressGate, hosts: readonly string[]) =>
  (await Promise.allSettled(hosts.map((host) => gate.admit(to(host))))).map((one) =>
    one.status === 'fulfilled' ? 'passed' : (one.reason as Error).constructor,
  );

describe('EgressGate', () => {
  it('limits the requests of each thread separately', async () => {
    const gates = aGate({ requestsPerSecond: 1 });

    const flood = await outcomes(gates.of('thr_flood'), Array(7).fill('a.example'));

    expect(flood).toEqual([...Array(4).fill('passed'), ...Array(3).fill(TooManyRequests)]);
    expect(await outcomes(gates.of('thr_flood'), ['a.example'])).toEqual([TooManyRequests]);
    expect(await outcomes(gates.of('thr_other'), ['a.example'])).toEqual(['passed']);
  });

  it('limits concurrent name lookups, and shares those of the same name', async () => {
    const asked: string[] = [];
    let answer: (addresses: string[]) => void = () => undefined;
    const answered = new Promise<string[]>((resolve) => (answer = resolve));
    const gates = aGate({}, (host) => {
      asked.push(host);
      return host.startsWith('slow') ? answered : Promise.resolve(['192.0.2.1']);
    });
    const slow = Array.from({ length: 40 }, (_, n) => `slow-${n}.example`);
    const flood = outcomes(gates.of('thr_flood'), [...slow, ...slow]);

    expect(await outcomes(gates.of('thr_flood'), ['quick.example'])).toEqual([TooManyRequests]);
    expect(await outcomes(gates.of('thr_other'), ['quick.example'])).toEqual(['passed']);
    expect(asked).toEqual([...slow.slice(0, 32), 'quick.example']);

    answer(['192.0.2.1']);
    const halves = [...Array(32).fill('passed'), ...Array(8).fill(TooManyRequests)];
    expect(await flood).toEqual([...halves, ...halves]);
    expect(await outcomes(gates.of('thr_flood'), ['quick.example'])).toEqual(['passed']);
  });
});
