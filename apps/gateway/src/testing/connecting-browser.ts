import type { RunningGateway } from './running-gateway';

/** A browser of a person who connects an MCP server: it keeps its cookie, and follows where it is led. */
export class ConnectingBrowser {
  private cookie = '';

  constructor(private readonly gateway: Pick<RunningGateway, 'url'>) {}

  /** Opens the page, goes on to the authorization server, and comes back. Resolves to the text of the last page. */
  async connect(authorizationUrl: string): Promise<string> {
    return this.open(await this.comeBack(await this.goOn(authorizationUrl)));
  }

  /** From the page of the gateway: to the address of the authorization server. */
  async goOn(authorizationUrl: string): Promise<string> {
    const { pathname, search } = new URL(authorizationUrl);
    const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };
    const response = await fetch(`${this.gateway.url}${pathname}${search}`, {
      ...{ method: 'POST', headers, redirect: 'manual' },
    });
    this.cookie = response.headers.get('set-cookie')?.split(';')[0] ?? '';
    return response.headers.get('location') ?? '';
  }

  /** From the page of the authorization server, which consents at once: to the address of the gateway, with a code. */
  async comeBack(location: string): Promise<string> {
    const response = await fetch(location, { redirect: 'manual' });
    return response.headers.get('location') ?? `status ${response.status}`;
  }

  async open(address: string): Promise<string> {
    const { pathname, search } = new URL(address);
    const response = await fetch(`${this.gateway.url}${pathname}${search}`, { headers: { cookie: this.cookie } });
    return response.text();
  }
}
