import { Agent, request } from 'node:http';

/** Closes idle connections before the server does: a request sent while the server closes would fail. */
const agent = new Agent({ keepAlive: true, maxSockets: Infinity, timeout: 2_000 });

interface Posted {
  readonly body: object;
  readonly headers?: Record<string, string>;
  readonly onText?: (text: string) => void;
}

/** A client that uses little CPU, so that the load's core is not full before the system's core is. */
export const post = (url: string, posted: Posted): Promise<string> => exchange(url, { method: 'POST', ...posted });

/** Reads an answer until it ends, or `onText` has returned true. */
export function exchange(
  url: string,
  {
    method,
    body,
    headers = {},
    onHead,
    onText,
  }: Omit<Posted, 'body' | 'onText'> & {
    readonly method: 'GET' | 'POST';
    readonly body?: object;
    readonly onHead?: () => void;
    readonly onText?: (text: string) => unknown;
  },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method, agent, headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        onHead?.();
        response.on('data', (part: string) => {
          if (!onText) text += part;
          else if (onText(part) === true) {
            resolve(text);
            response.destroy();
          }
        });
        response.on('error', reject);
        response.on('end', () => {
          if ((response.statusCode ?? 500) < 400) resolve(text);
          else reject(new Error(`${url} answered ${response.statusCode}: ${text}`));
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body && JSON.stringify(body));
  });
}
