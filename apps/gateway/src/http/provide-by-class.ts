import type { Provider } from '@nestjs/common';

/**
 * Provides each object under its class, which is how controllers ask for it. A class with two objects is not provided,
 * since it does not tell which one is meant; plain objects and functions have no class of their own.
 */
export function provideByClass(values: Iterable<unknown>): Provider[] {
  const instances = new Map<object, object[]>();
  for (const value of new Set(values)) {
    if (typeof value !== 'object' || value === null) continue;
    const { constructor } = value;
    if (constructor !== Object) instances.set(constructor, [...(instances.get(constructor) ?? []), value]);
  }
  return [...instances].flatMap(([provide, [useValue, another]]) =>
    another === undefined ? [{ provide: provide as never, useValue }] : [],
  );
}
