interface DocumentedPaths {
  readonly paths: Readonly<Record<string, object>>;
}

/** Which methods a path has, so that a wrong one is a 405 and not a 404. */
export class AllowedMethods {
  private routes: { readonly pattern: RegExp; readonly methods: string[] }[] = [];

  describe({ paths }: DocumentedPaths): void {
    this.routes = Object.entries(paths).map(([path, operations]) => ({
      pattern: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '[^/]+')}/?$`),
      methods: Object.keys(operations)
        .map((method) => method.toUpperCase())
        .sort(),
    }));
  }

  at(path: string): string[] {
    return this.routes.find(({ pattern }) => pattern.test(path))?.methods ?? [];
  }
}
