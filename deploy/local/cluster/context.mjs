import { GatewayClient } from './gateway-client.mjs';

/** What a proof needs: the cluster, the release, clients of the gateways and of the servers. */
export async function readContext({ node, release, owns, directory, log }) {
  const { kubectl } = node;
  const secret = async (key) => {
    const { data } = await kubectl.json('get', 'secret', 'rondo');
    return Buffer.from(data[key], 'base64').toString();
  };
  const readAddress = async (service) => (await kubectl.json('get', 'service', `rondo-${service}`)).spec.clusterIP;
  const [key, gateway] = [await secret('RONDO_ADMIN_KEY'), await readAddress('gateway')];
  return {
    ...{ node, kubectl, release, owns, directory, secret },
    client: () => new GatewayClient(`http://${gateway}`, key),
    serviceUrl: async (service, { user, password }) =>
      `postgresql://${user}:${password}@${await readAddress(service)}:5432/rondo`,
    note: (text) => log.note(`      ${text}`),
  };
}
