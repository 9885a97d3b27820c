import { lazyRouteComponent } from '@tanstack/react-router';
import { untilAnswered, untilReturned } from './connection.ts';

/**
 * Loads a part of the console. While the gateway is away it is not asked for, because browsers remember that a script could not be
 * loaded. A part that does not come although the gateway answers is of another version.
 */
export async function loadFiles<Part>(load: () => Promise<Part>): Promise<Part> {
  await untilReturned();
  return load().catch(async () => {
    await untilAnswered();
    return load();
  });
}

/**
 * A page whose files are loaded when it is opened. Where they do not come, the router loads the document anew: without a gateway
 * the browser would then show a page of its own, from which nothing leads back.
 */
export const lazyPage: typeof lazyRouteComponent = (load, name) => lazyRouteComponent(() => loadFiles(load), name);
