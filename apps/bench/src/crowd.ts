/** So many clients that each do the same thing again and again, until they are told to leave. */
export class Crowd {
  private leaving = false;
  private readonly clients: Promise<void>[];

  constructor(size: number, work: (client: number) => Promise<unknown>) {
    this.clients = Array.from({ length: size }, (_, index) => this.repeat(() => work(index)));
  }

  /** Resolves when everybody has finished what they were at. */
  async leave(): Promise<void> {
    this.leaving = true;
    await Promise.all(this.clients);
  }

  private async repeat(work: () => Promise<unknown>): Promise<void> {
    while (!this.leaving) await work();
  }
}
