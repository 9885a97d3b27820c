import 'reflect-metadata'; // the library below needs it
import { webcrypto } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SecureContext, createSecureContext, rootCertificates } from 'node:tls';
import * as x509 from '@peculiar/x509';

const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const authorityDays = 3_650;
const certificateDays = 30;
/** So long before its end a certificate is used no more. */
const renewedBeforeMs = 10 * dayMs;
const mostCertificates = 500;

/** Where Linux distributions keep the authorities that programs trust. */
const systemBundles = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem'];

/** The files of `writeTo`: this authority beside all others, and it alone for programs that add it to their own. */
const files = { all: 'authorities.pem', own: 'authority.pem' };

/** What commands need to trust the authority; programs read these variables instead of the system's list. */
export function trustVariables(directory: string): Record<string, string> {
  const all = `${directory}/${files.all}`;
  return {
    ...{ SSL_CERT_FILE: all, REQUESTS_CA_BUNDLE: all, CURL_CA_BUNDLE: all, GIT_SSL_CAINFO: all, PIP_CERT: all },
    ...{ AWS_CA_BUNDLE: all, CARGO_HTTP_CAINFO: all, npm_config_cafile: all },
    ...{ NODE_EXTRA_CA_CERTS: `${directory}/${files.own}`, DENO_CERT: `${directory}/${files.own}` },
  };
}

interface Issued {
  readonly context: SecureContext;
  readonly untilMs: number;
}

interface Keys {
  readonly certificate: x509.X509Certificate;
  readonly signing: webcrypto.CryptoKeyPair;
  /** Of every certificate that is issued: they differ in their name only. */
  readonly server: webcrypto.CryptoKeyPair;
  readonly serverPem: string;
}

/**
 * A certificate authority of this process, which commands in sandboxes trust, and nothing else does. Its key is made in memory
 * and never leaves it: with the process every sandbox ends that trusted it.
 */
export class SecretAuthority {
  private keys: Promise<Keys> | undefined;
  private readonly issued = new Map<string, Promise<Issued>>();

  /** Writes what commands are to trust. */
  async writeTo(directory: string): Promise<void> {
    const { certificate } = await this.ready();
    const own = `${certificate.toString('pem')}\n`;
    const system = systemBundles.find((path) => existsSync(path));
    const others = system === undefined ? rootCertificates.join('\n') : readFileSync(system, 'utf8');
    await this.write(join(directory, files.own), own);
    await this.write(join(directory, files.all), `${others.trim()}\n${own}`);
  }

  /** What a server shows that stands for this host. */
  async contextFor(host: string): Promise<SecureContext> {
    const known = await this.issued.get(host);
    if (known && known.untilMs - Date.now() > renewedBeforeMs) return known.context;
    const issued = this.issue(host);
    this.issued.set(host, issued);
    issued.catch(() => this.issued.delete(host));
    if (this.issued.size > mostCertificates) this.issued.delete([...this.issued.keys()][0] ?? '');
    return (await issued).context;
  }

  private async write(path: string, text: string): Promise<void> {
    await writeFile(path, text);
    await chmod(path, 0o644);
  }

  private ready(): Promise<Keys> {
    return (this.keys ??= createKeys());
  }

  private async issue(host: string): Promise<Issued> {
    const { certificate, signing, server, serverPem } = await this.ready();
    const untilMs = Date.now() + certificateDays * dayMs;
    const made = await x509.X509CertificateGenerator.create(
      {
        subject: 'CN=Rondo sandbox egress',
        issuer: certificate.subject,
        notBefore: new Date(Date.now() - hourMs),
        notAfter: new Date(untilMs),
        publicKey: server.publicKey,
        signingKey: signing.privateKey,
        signingAlgorithm: keyAlgorithm,
        extensions: [
          new x509.BasicConstraintsExtension(false),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
          new x509.SubjectAlternativeNameExtension([{ type: isAddress(host) ? 'ip' : 'dns', value: host }]),
          await x509.AuthorityKeyIdentifierExtension.create(signing.publicKey, false, webcrypto),
        ],
      },
      webcrypto,
    );
    const chain = `${made.toString('pem')}\n${certificate.toString('pem')}\n`;
    return { context: createSecureContext({ key: serverPem, cert: chain, minVersion: 'TLSv1.2' }), untilMs };
  }
}

const isAddress = (host: string): boolean => /^[\d.]+$/.test(host);

async function createKeys(): Promise<Keys> {
  const [signing, server] = await Promise.all([createKeyPair(), createKeyPair()]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=Rondo sandbox egress authority',
      notBefore: new Date(Date.now() - hourMs),
      notAfter: new Date(Date.now() + authorityDays * dayMs),
      keys: signing,
      signingAlgorithm: keyAlgorithm,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
        await x509.SubjectKeyIdentifierExtension.create(signing.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  );
  const exported = await webcrypto.subtle.exportKey('pkcs8', server.privateKey);
  const serverPem = x509.PemConverter.encode(exported, 'PRIVATE KEY');
  return { certificate, signing, server, serverPem };
}

const createKeyPair = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify']);
