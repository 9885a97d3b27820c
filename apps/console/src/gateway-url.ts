let known: string | undefined;

/**
 * Where the gateway is, without a slash at the end. A reverse proxy may have put it below a path; the page's own script shows which,
 * because it is at `<gateway>/console/assets/…`. It is looked up once, when the page has been loaded: the address of the script is
 * relative to that of the page, which is another one after the first link.
 */
export const gatewayUrl = (): string => (known ??= readGatewayUrl());

function readGatewayUrl(): string {
  const script = document.querySelector<HTMLScriptElement>('script[type="module"][src]');
  return new URL('../..', script?.src ?? `${location.origin}/console/assets/`).href.replace(/\/$/, '');
}
