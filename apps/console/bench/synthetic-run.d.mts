/** What `GET /v1/runs/{id}` would answer. */
export function runOf(status: string, lastSeq: number): object;
