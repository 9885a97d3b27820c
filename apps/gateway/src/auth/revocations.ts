import type { KeyRing } from './key-ring';
import type { OpenConnections } from './open-connections';

/** Keys that were revoked through this process are good for nothing more in it, and their connections are cut. */
export class Revocations {
  constructor(
    private readonly keys: KeyRing,
    private readonly connections: OpenConnections,
  ) {}

  async takeEffect(): Promise<void> {
    this.keys.forget();
    await this.connections.check();
  }
}
