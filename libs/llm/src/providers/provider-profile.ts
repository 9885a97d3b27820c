import type { ReasoningEffort } from '@rondo/contract';

/** In what a server differs from what most accept. What a profile leaves out is as it is for most. */
export interface ProviderProfile {
  /** The maker, as what it gives names it: two providers with the same one accept each other's. */
  readonly family: string;
  /** Names of providers, hosts of base URLs, and models that it is for. A provider may have any name. */
  readonly names: RegExp;
  readonly hosts?: RegExp;
  readonly models?: RegExp;
  /** Models of such a provider that it is not for. */
  readonly except?: RegExp;
  /**
   * How reasoning goes back with the calls that it led to: in the field that it came in (the default), in `reasoning_content` with
   * every call, even empty, as `reasoning_details`, as the signature of each call, or not at all.
   */
  readonly reasoning?: 'as received' | 'always' | 'details' | 'signatures' | 'none';
  /** Refuses a user message right after the result of a tool. */
  readonly noUserAfterTool?: boolean;
  /** Refuses images: its models read only text. */
  readonly textOnly?: boolean;
  /** Does not know `stream_options`. */
  readonly noStreamOptions?: boolean;
  /** Knows only a part of JSON Schema. */
  readonly plainSchemas?: boolean;
  /** The most tools of a request. Most refuse more than 128. */
  readonly maxTools?: number;
  /** The efforts that it has, from the least; the nearest is asked for. Absent: all are passed on. */
  readonly efforts?: readonly ReasoningEffort[];
}
