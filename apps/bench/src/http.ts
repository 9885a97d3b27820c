import { Agent, request } from 'node:http';

/** Lets go of an idle connection before the server does, which would cut off a request that is just being sent. */
const agent = new Agent({ keepAlive: true, maxSockets: Infinity, timeout: 2_000 });

/** A lean client, so that the load does not fill its core before the system fills its own. */
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
