import type { ServerResponse } from 'node:http';

const headers = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  /** What happened, and what to do. */
  readonly detail: string;
}

/** A problem, as the gateway's are; a person who opened the address gets the sentence. */
export function refuse(response: ServerResponse, { status, code, title, detail }: Refusal): void {
  const isForPerson = response.req.headers.accept?.includes('text/html') === true;
  const type = isForPerson ? 'text/plain; charset=utf-8' : 'application/problem+json';
  response.writeHead(status, { ...headers, 'Content-Type': type });
  response.end(
    isForPerson ? `${detail}\n` : JSON.stringify({ type: `urn:rondo:problem:${code}`, title, status, code, detail }),
  );
}

/** An answer without a body. */
export function answer(response: ServerResponse, status: number, more: Readonly<Record<string, string>>): void {
  response.writeHead(status, { ...headers, ...more }).end();
}
