/** Where a request goes. */
export interface Target {
  /** As `URL.hostname` has it: version 6 in brackets. */
  readonly hostname: string;
  readonly port: number;
  /** `http:` or `https:`. Without it, port 80 is taken for http and every other one for https. */
  readonly protocol?: string;
}

/** Where a request for an http or https URL goes. */
export const toTarget = ({ protocol, hostname, port }: URL): Target => ({
  protocol,
  hostname,
  port: Number(port || (protocol === 'http:' ? 80 : 443)),
});

/** A host name without the brackets that URLs put around version 6 addresses. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, '').toLowerCase();
