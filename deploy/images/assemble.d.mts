interface AssembledImage {
  readonly image: string;
  /** The folder with its files. */
  readonly folder: string;
  readonly files: readonly string[];
  readonly libraries: readonly string[];
  /** Places of package-lock.json, such as `node_modules/zod`. */
  readonly packages: readonly string[];
}

export function assemble(request: {
  root: string;
  to: string;
  names?: readonly string[];
  debian?: string;
}): AssembledImage[];
