/** A number of concurrent clients that each repeat the same work until they are stopped. */
export class Clients {
  private isStopping = false;
  private readonly clients: Promise<void>[];

  constructor(size: number, work: (client: number) => Promise<unknown>) {
    this.clients = Array.from({ length: size }, (_, index) => this.repeat(() => work(index)));
  }

  /** Resolves when every client has finished the work that it had begun. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.clients);
  }

  private async repeat(work: () => Promise<unknown>): Promise<void> {
    while (!this.isStopping) await work();
  }
}
