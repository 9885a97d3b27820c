import { randomUUID } from 'node:crypto';
import type { SandboxCapabilities, SandboxProvider } from '../provider/sandbox-provider';
import type { SandboxSettings } from '../provider/sandbox-settings';

/** A provider of its own for one part of the suite. */
export interface SandboxProviderFixture {
  readonly provider: SandboxProvider;
  /** Closes the provider and replaces it by a new one that finds what the old one left, like a restart of the executor. */
  restart(): Promise<void>;
  /** Closes the provider and deletes all of its sandboxes. */
  close(): Promise<void>;
}

/** The limits that the suite relies on; the others are the provider's. */
export type ContractLimits = Partial<Pick<SandboxSettings, 'transferBytes' | 'listedEntries'>>;
export type MakeFixture = (limits?: ContractLimits) => Promise<SandboxProviderFixture>;

export const newThreadId = (): string => `thr_${randomUUID()}`;

export const readCapabilities = async (provider: SandboxProvider): Promise<SandboxCapabilities> =>
  (await provider.probe()).capabilities;
