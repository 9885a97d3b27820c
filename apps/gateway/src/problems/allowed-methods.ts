import { type Route as RouteData, facadeRoutes } from '@rondo/contract/api';

interface DocumentedPaths {
  readonly paths: Readonly<Record<string, object>>;
}

interface Route {
  readonly pattern: RegExp;
  readonly methods: string[];
}

/** The document has no routes of façades. */
const facadePaths = Object.values<RouteData>(facadeRoutes).map(({ path }): [string, object] => {
  const atPath = Object.values<RouteData>(facadeRoutes).filter((route) => route.path === path);
  return [path, Object.fromEntries(atPath.map(({ method }) => [method, true]))];
});

/** Which methods a path has, so that a wrong one is a 405 and not a 404. */
export class AllowedMethods {
  private document: () => DocumentedPaths = () => ({ paths: {} });
  private routes: readonly Route[] | undefined;

  /** The document is read when the first question comes. */
  describe(document: () => DocumentedPaths): void {
    this.document = document;
    this.routes = undefined;
  }

  at(path: string): string[] {
    this.routes ??= [...Object.entries(this.document().paths), ...facadePaths].map(toRoute);
    return this.routes.find(({ pattern }) => pattern.test(path))?.methods ?? [];
  }
}

function toRoute([path, operations]: [string, object]): Route {
  return {
    pattern: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '[^/]+')}/?$`),
    methods: Object.keys(operations)
      .map((method) => method.toUpperCase())
      .sort(),
  };
}
