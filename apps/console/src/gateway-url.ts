/**
 * Where the gateway is, without a slash at the end. A reverse proxy may have put it below a path; the page's own script shows which,
 * because it is at `<gateway>/console/assets/…`.
 */
export function gatewayUrl(): string {
  const script = document.querySelector<HTMLScriptElement>('script[type="module"][src]');
  return new URL('../..', script?.src ?? `${location.origin}/console/assets/`).href.replace(/\/$/, '');
}
