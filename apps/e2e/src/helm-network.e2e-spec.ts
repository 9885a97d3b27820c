import { BlockList } from 'node:net';
import { isPublicAddress } from '@rondo/platform';
import { z } from 'zod';
import { type KubernetesObject, prepareHelm, render } from './rendered-chart';

beforeAll(prepareHelm, 300_000);

const bundled = ['toolExecutor.sandbox.limits=pod', 'bundled.enabled=true'];

describe('the network policies of the chart', () => {
  it('say who may connect to the stores, and the executor is not among them', async () => {
    const objects = await render(...bundled);
    const toPeers = (server: string) => JSON.stringify(objects.find(isPolicy(server)));
    const isPolicy =
      (server: string) =>
      ({ kind, metadata }: KubernetesObject) =>
        kind === 'NetworkPolicy' && metadata.name === `rondo-${server}`;

    for (const store of ['postgres', 'redis']) {
      expect(toPeers(store)).toContain('"gateway"');
      expect(toPeers(store)).not.toContain('tool-executor');
    }
    expect(toPeers('nats')).toContain('tool-executor');
  });

  it('let the executor reach public addresses alone, as sandboxes may', async () => {
    const objects = await render(...bundled);
    const policy = objects.find(({ metadata }) => metadata.name === 'rondo-tool-executor-egress');
    const anywhere = z.object({ ipBlock: z.object({ cidr: z.string(), except: z.array(z.string()) }) });
    const { spec } = z
      .object({ spec: z.object({ egress: z.array(z.looseObject({ to: z.array(z.unknown()) })) }) })
      .parse(policy);
    const blocks = spec.egress.flatMap(({ to }) => to.flatMap((peer) => anywhere.safeParse(peer).data?.ipBlock ?? []));
    const kept = new BlockList();
    for (const network of blocks.find(({ cidr }) => cidr === '0.0.0.0/0')?.except ?? []) {
      const [address = '', prefix] = network.split('/');
      kept.addSubnet(address, Number(prefix));
    }

    const inside = ['10.1.2.3', '100.64.0.1', '169.254.169.254', '172.16.0.1', '192.168.1.1'];
    const special = ['168.63.129.16', '192.0.0.192', '198.18.0.1', '240.0.0.1'];
    for (const address of [...inside, ...special, '8.8.8.8', '198.51.100.1', '223.255.255.1']) {
      expect({ address, isReached: !kept.check(address) }).toEqual({ address, isReached: isPublicAddress(address) });
    }
  });

  it('let its own test reach a gateway to which only some may connect', async () => {
    const peers = async (...settings: string[]) => {
      const objects = await render(...bundled, ...settings);
      const policy = objects.find(
        ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'rondo-gateway',
      );
      const ingress = z.object({
        spec: z.object({ ingress: z.array(z.looseObject({ from: z.unknown().optional() })) }),
      });
      return JSON.stringify(ingress.parse(policy).spec.ingress[0]?.from);
    };

    expect(await peers()).toBeUndefined();
    const narrow = await peers('networkPolicy.gatewayFrom[0].namespaceSelector.matchLabels.name=ingress');
    expect(narrow).toContain('{"namespaceSelector":{"matchLabels":{"name":"ingress"}}}');
    expect(narrow).toContain('"app.kubernetes.io/component":"test"');
  });
});
