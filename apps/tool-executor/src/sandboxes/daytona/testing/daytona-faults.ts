/** How the test server treats a request: answers with a status, breaks the connection, or takes its time. */
export interface Fault {
  /** `POST /sandbox`, `POST /toolbox/:id/process/execute` and so on. */
  readonly route: string;
  /** How many requests it meets. */
  readonly times: number;
  readonly status?: number;
  /** The request is done, but its answer never arrives. */
  readonly loseAnswer?: boolean;
  /** Closes the connection before anything is done. */
  readonly reset?: boolean;
  readonly delayMs?: number;
  /** Does nothing before. */
  readonly until?: Promise<unknown>;
}

export class DaytonaFaults {
  private readonly planned: { fault: Fault; left: number }[] = [];

  plan(fault: Fault): void {
    this.planned.push({ fault, left: fault.times });
  }

  /** The next one planned for the route, which then has happened. */
  take(route: string): Fault | undefined {
    const found = this.planned.find(({ fault, left }) => left > 0 && fault.route === route);
    if (found) found.left -= 1;
    return found?.fault;
  }
}
