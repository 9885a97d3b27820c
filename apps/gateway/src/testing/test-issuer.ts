import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, type JWK, type JWTPayload, SignJWT, exportJWK, exportSPKI, generateKeyPair } from 'jose';

interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly jwk: JWK;
}

/** An issuer of OpenID Connect over HTTP: its discovery document, its keys, and tokens that they signed. */
export class TestIssuer {
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  private readonly keys: SigningKey[] = [];
  private server: Server | undefined;
  /** Where it listens, on 127.0.0.1. */
  port = 0;

  private constructor(private readonly name: string | undefined) {}

  /** With a name it says of itself that it is there, on port 80. */
  static async start(name?: string): Promise<TestIssuer> {
    const issuer = new TestIssuer(name);
    await issuer.rotate();
    await issuer.up();
    return issuer;
  }

  get url(): string {
    return this.name === undefined ? `http://127.0.0.1:${this.port}` : `http://${this.name}`;
  }

  /** At the same address as before. */
  async up(): Promise<void> {
    this.server = createServer((request, response) => {
      this.asked.push(request.url ?? '');
      const documents: Record<string, object> = {
        '/.well-known/openid-configuration': { issuer: this.url, jwks_uri: `${this.url}/keys` },
        '/keys': { keys: this.keys.map(({ jwk }) => jwk) },
      };
      const document = documents[request.url ?? ''];
      response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    });
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port; // it listens on TCP
  }

  async down(): Promise<void> {
    this.server?.close();
    this.server?.closeAllConnections();
    if (this.server) await once(this.server, 'close');
    this.server = undefined;
  }

  /** Signs with a new key from now on, and no longer has the former one. */
  async rotate(alg = 'RS256'): Promise<void> {
    const kid = `key-${Math.random()}`;
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
    this.keys.splice(0, 1, { kid, privateKey, publicKey, jwk });
  }

  get current(): SigningKey {
    const [key] = this.keys;
    if (!key) throw new Error('the issuer has no key');
    return key;
  }

  publicPem(): Promise<string> {
    return exportSPKI(this.current.publicKey);
  }

  /** Valid for five minutes, unless the claims say otherwise. */
  async token(claims: JWTPayload, { kid, privateKey, jwk } = this.current): Promise<string> {
    const nowS = Math.floor(Date.now() / 1000);
    const usual = { iss: this.url, aud: 'rondo', sub: 'ada', iat: nowS, exp: nowS + 300 };
    return new SignJWT({ ...usual, ...claims }).setProtectedHeader({ alg: jwk.alg ?? '', kid }).sign(privateKey);
  }
}
