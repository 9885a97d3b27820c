import { OutboundProxy } from '@rondo/platform';
import { ConnectProxy } from '@rondo/platform/testing';
import { jwtVerify } from 'jose';
import { TestIssuer } from '../../testing/test-issuer';
import { IssuerKeys, IssuerUnavailable } from './issuer-keys';

it('asks for the keys of an issuer through the proxy', async () => {
  const issuer = await TestIssuer.start('issuer.invalid');
  const proxy = await ConnectProxy.start({ 'issuer.invalid:80': issuer.port });
  const keys = new IssuerKeys(issuer.url, OutboundProxy.from({ HTTP_PROXY: proxy.url }));

  const { payload } = await jwtVerify(await issuer.token({ sub: 'grace' }), keys.find);

  expect(payload.sub).toBe('grace');
  expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/keys']);
  expect(proxy.asked).toEqual(['issuer.invalid:80', 'issuer.invalid:80']);
  await expect(
    jwtVerify(
      await issuer.token({}),
      new IssuerKeys('http://other.invalid', OutboundProxy.from({ HTTP_PROXY: proxy.url })).find,
    ),
  ).rejects.toThrow(IssuerUnavailable);
  proxy.stop();
  await issuer.down();
});
