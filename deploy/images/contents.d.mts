interface ImageContents {
  /** The stage of deploy/Dockerfile that it is based on. */
  readonly system: 'runtime' | 'sandbox-runtime';
  readonly project?: string;
  readonly module?: string;
  readonly packages?: readonly string[];
  readonly paths?: readonly string[];
}

export const images: Readonly<Record<string, ImageContents>>;
