export interface SentMessage {
  readonly sentTo: string;
  /** JSON Schema. */
  readonly schema: object;
}

export declare class WireRecorder {
  constructor(messages: Readonly<Record<string, SentMessage>>);
  /** By kind. */
  readonly heard: Readonly<Record<string, readonly unknown[]>>;
  start(servers: { natsUrl: string; redisUrl: string }): Promise<void>;
  until(kind: string): Promise<void>;
  close(): Promise<void>;
}

export function toExample(message: unknown): unknown;
export function oneOfEachShape(examples: readonly unknown[]): unknown[];
