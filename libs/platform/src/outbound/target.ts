import { z } from 'zod';

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

const shape = /^(?:\[[^\s\]]+\]|[^\s\][/?#@:*\\]+):\d{1,5}$/;
const expected = 'expected host:port, for example git.internal:3000 or 127.0.0.1:9000';

/** A host and port that may be reached although its address is private, in the form that `URL` parses to. */
export const internalHost = z
  .string()
  .regex(shape, expected)
  .transform((text, context) => {
    const url = URL.canParse(`http://${text}`) ? new URL(`http://${text}`) : undefined;
    const port = Number(text.slice(text.lastIndexOf(':') + 1));
    if (url && port > 0) return authority({ hostname: url.hostname, port });
    context.addIssue({ code: 'custom', message: expected });
    return z.NEVER;
  });

/** The host and port as a parsed URL has them: lower case, numbers as addresses, version 6 in brackets. */
export const authority = ({ hostname, port }: { hostname: string; port: number }): string => `${hostname}:${port}`;
