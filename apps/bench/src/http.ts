import { Agent, request } from 'node:http';

/** Closes idle connections before the server does: a request sent while the server closes would fail. */
const agent = new Agent({ keepAlive: true, maxSockets: Infinity, timeout: 2_000 });

/** A client that uses little CPU, so that the load's core is not full before the system's core is. */
export function post(
  url: string,
  { body, headers = {}, onText }: { body: object; headers?: Record<string, string>; onText?: (text: string) => void },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method: 'POST', agent, headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          if (onText) onText(part);
          else text += part;
        });
        response.on('error', reject);
        response.on('end', () => {
          if ((response.statusCode ?? 500) < 400) resolve(text);
          else reject(new Error(`${url} answered ${response.statusCode}: ${text}`));
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify(body));
  });
}
