import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true });

/** As little of a `fetch` over node:http as the SDKs need: what remains of their cost with it is their own. */
export function leanFetch(url, { method, headers, body, signal }) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent, signal, headers: Object.fromEntries(headers) }, (message) => {
      resolve({
        ok: message.statusCode < 300,
        status: message.statusCode,
        url,
        headers: new Headers(message.headers),
        body: message,
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
