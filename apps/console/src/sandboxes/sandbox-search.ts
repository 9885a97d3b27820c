/** The file that is shown. */
export const readSandboxSearch = ({ path }: Record<string, unknown>): { path?: string } =>
  typeof path === 'string' && path !== '' ? { path } : {};
