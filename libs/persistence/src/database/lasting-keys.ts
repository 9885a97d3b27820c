/** Which keys were found at every look for some time, for a state that is seen only by looking for it. */
export class LastingKeys {
  private foundSince: ReadonlyMap<string, number> = new Map();

  constructor(private readonly forMs: number) {}

  /** Returns those of the keys that are found now that have been found since at least `forMs` ago. */
  of(found: readonly string[]): readonly string[] {
    const nowMs = performance.now();
    this.foundSince = new Map(found.map((key) => [key, this.foundSince.get(key) ?? nowMs]));
    return [...this.foundSince].filter(([, since]) => nowMs - since >= this.forMs).map(([key]) => key);
  }
}
