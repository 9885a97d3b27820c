/** What `GET /v1/runs/{id}` would answer. */
export function toRun(status: string, lastSeq: number): object;
