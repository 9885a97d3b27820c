import type { OnApplicationBootstrap, OnApplicationShutdown, OnModuleDestroy } from '@nestjs/common';
import type { Parts } from './assemble';

/** Streams end first, so that their clients look for another gateway; what requests still use closes last. */
export class Lifetime implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  constructor(private readonly parts: Parts) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.parts.installation.open();
  }

  onModuleDestroy(): void {
    this.parts.hub.close();
    this.parts.connections.close();
    this.parts.installation.close();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.parts.infrastructure.close();
  }
}
